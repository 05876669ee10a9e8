/** A seed is a history: the same one on every machine, whatever comes of it. */
import type { FaultPlan } from '../support/faults.ts'
import { SeededRandom } from './seeded-random.ts'
import type { AgentAction, HistoryAction, UserAction, Verb, VerbRequest } from './history-actions.ts'

const ids = ['T1', 'T2', 'T3']

const userActions: Readonly<Record<UserAction, number>> = {
  edit: 8,
  create: 4,
  delete: 2,
  stage: 4,
  commit: 3,
  'commit all': 5,
  amend: 1,
  branch: 1,
  switch: 3,
  rebase: 2,
  stash: 1,
  tag: 1,
  gc: 2,
  'pack refs': 1,
  'delete task branch': 2,
  'prune worktrees': 1,
  'leave a lock': 1,
  move: 1,
}

const agentActions: Readonly<Record<AgentAction, number>> = {
  edit: 8,
  create: 5,
  delete: 3,
  commit: 2,
  shape: 2,
  corpus: 3,
}

/** On a task that should be open. */
const verbs: Readonly<Record<Exclude<Verb, 'start'>, number>> = {
  checkpoint: 10,
  accept: 12,
  rewind: 4,
  run: 4,
  update: 3,
  reject: 4,
  delete: 1,
  remove: 2,
  repair: 1,
  undo: 9,
  redo: 3,
  prune: 1,
  forget: 0.4,
}

/** About how many effects a verb has: where a fault may hit. */
const effectsOf: Readonly<Record<Verb, number>> = {
  start: 40,
  checkpoint: 28,
  rewind: 46,
  run: 46,
  accept: 55,
  update: 52,
  reject: 22,
  delete: 22,
  remove: 24,
  repair: 4,
  undo: 24,
  redo: 24,
  prune: 4,
  forget: 22,
}

export function historyOf(seed: number): HistoryAction[] {
  const random = new SeededRandom(seed)
  const history: HistoryAction[] = []
  const open = new Map<string, 'worktree' | 'clone' | 'branch'>()
  const length = random.between(10, 22)
  // How many can be undone, and redone, if all goes well.
  let [landed, undone] = [0, 0]
  const which = () => random.below(1000)
  const opened = () => random.pick([...open.keys()])

  const startOf = (task: string): VerbRequest => {
    const isolation = random.weighted({ worktree: 7, clone: 2, branch: 1 })
    open.set(task, isolation)
    return {
      verb: 'start',
      task,
      which: which(),
      ...(isolation !== 'worktree' && { isolation }),
      ...(isolation !== 'branch' && random.chance(0.1) && { from: 'feature' as const }),
    }
  }

  const verbRequest = (): VerbRequest => {
    const closed = ids.filter((id) => !open.has(id))
    if (open.size === 0 || (closed.length > 0 && random.chance(0.1))) return startOf(random.pick(closed))
    if (random.chance(0.04)) return { verb: 'start', task: opened(), which: which() }
    const verb = random.weighted({
      ...verbs,
      ...(landed === 0 && { undo: 0 }),
      ...(undone === 0 && { redo: 0 }),
    })
    if (verb === 'undo') [landed, undone] = [landed - 1, undone + 1]
    else if (verb === 'redo') [landed, undone] = [landed + 1, undone - 1]
    else if (verb !== 'checkpoint' && verb !== 'run' && verb !== 'repair' && verb !== 'prune') landed += 1
    const task = opened()
    const request = { verb, task, which: which() }
    if (verb === 'reject' || verb === 'delete' || verb === 'forget') open.delete(task)
    if (verb === 'reject' && random.chance(0.2)) return { ...request, keepBranch: true }
    if (verb === 'remove') return { ...request, ...(random.chance(0.6) && { force: true as const }) }
    if (verb === 'update') return { ...request, ...(random.chance(0.4) && { conflicts: 'markers' as const }) }
    return verb === 'accept' ? acceptRequest(request) : request
  }

  const acceptRequest = (request: VerbRequest): VerbRequest => {
    const as = random.weighted({ patch: 8, squash: 4, merge: 3, rebase: 3, 'keep-branch': 1 })
    const part =
      as !== 'keep-branch' && random.chance(0.35) && random.pick(['only', 'step', 'hunks'] as const)
    const keep = random.chance(0.25)
    if (!part && !keep) open.delete(request.task)
    return {
      ...request,
      as,
      ...(part && { part }),
      ...(keep && { keep: true as const }),
      ...(random.chance(0.2) && { conflicts: 'markers' as const }),
    }
  }

  const fault = (verb: Verb): FaultPlan => {
    const at = random.between(1, effectsOf[verb])
    const kind = random.weighted({ kill: 8, eio: 3, enospc: 3, eacces: 2, git: 1, cancel: 1 })
    if (kind === 'kill') {
      const child = random.pick(['survives', 'dies', 'frozen'] as const)
      if (random.chance(0.2))
        return { kind, at: random.between(1, 8), among: '^(git |command)', when: 'during', child }
      return { kind, at, when: random.pick(['before', 'after'] as const) }
    }
    if (kind === 'git') return { kind, at: random.between(1, 8), among: '^(git |command)', when: 'during' }
    if (kind === 'enospc' && random.chance(0.5)) return { kind, at, when: 'before', from: true }
    return { kind, at, when: kind === 'cancel' ? 'before' : random.pick(['before', 'after'] as const) }
  }

  const several = (): HistoryAction => {
    const [first, second, third] = [verbRequest(), verbRequest(), verbRequest()]
    // Two that land would make the outcome a matter of luck.
    const apart = [first, second, third].filter(
      (request, n, all) => !all.slice(0, n).some((other) => clash(request, other)),
    )
    if (apart.length > 1 && random.chance(0.3))
      apart[0] = { ...apart[0]!, fault: { kind: 'kill', at: random.between(1, 30), when: 'before' } }
    if (apart.length === 1) apart.push(first)
    return { who: 'several', requests: apart }
  }

  history.push({ who: 'offshoot', request: startOf('T1') })
  while (history.length < length) {
    const who = random.weighted({ user: 22, agent: open.size > 0 ? 30 : 0, offshoot: 44, several: 4 })
    if (who === 'user') history.push({ who, does: random.weighted(userActions), which: which() })
    else if (who === 'agent')
      history.push({ who, does: random.weighted(agentActions), task: opened(), which: which() })
    else if (who === 'several') history.push(several())
    else {
      const request = verbRequest()
      const isFaulty = random.chance(0.45)
      const rests = isFaulty && random.chance(0.4)
      history.push({
        who,
        request: isFaulty ? { ...request, fault: fault(request.verb) } : request,
        ...(rests && { rests }),
      })
    }
  }
  return history
}

/** Verbs whose outcome depends on which of them comes first. */
function clash(a: VerbRequest, b: VerbRequest): boolean {
  const shared: readonly Verb[] = ['accept', 'undo', 'redo', 'forget', 'prune', 'update']
  const inCheckout = a.isolation === 'branch' || b.isolation === 'branch'
  return (
    a.task === b.task ||
    inCheckout ||
    (shared.includes(a.verb) && shared.includes(b.verb)) ||
    [a, b].some(({ verb }) => verb === 'forget')
  )
}
