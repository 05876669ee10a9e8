/** A seed is a history: the same one on every machine, whatever comes of it. */
import type { Plan } from '../support/faults.ts'
import { Dice } from './seeded-random.ts'
import type { AgentDeed, Order, UserDeed, Verb, VerbOrder } from './history-actions.ts'

const ids = ['T1', 'T2', 'T3']

const userDeeds: Readonly<Record<UserDeed, number>> = {
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

const agentDeeds: Readonly<Record<AgentDeed, number>> = {
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

/** About how many effects a verb has: where a fault may strike. */
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

export function historyOf(seed: number): Order[] {
  const dice = new Dice(seed)
  const history: Order[] = []
  const open = new Map<string, 'worktree' | 'clone' | 'branch'>()
  const length = dice.between(10, 22)
  // How many can be undone, and redone, if all goes well.
  let [landed, undone] = [0, 0]
  const which = () => dice.below(1000)
  const opened = () => dice.pick([...open.keys()])

  const startOf = (task: string): VerbOrder => {
    const isolation = dice.weighted({ worktree: 7, clone: 2, branch: 1 })
    open.set(task, isolation)
    return {
      verb: 'start',
      task,
      which: which(),
      ...(isolation !== 'worktree' && { isolation }),
      ...(isolation !== 'branch' && dice.chance(0.1) && { from: 'feature' as const }),
    }
  }

  const verbOrder = (): VerbOrder => {
    const closed = ids.filter((id) => !open.has(id))
    if (open.size === 0 || (closed.length > 0 && dice.chance(0.1))) return startOf(dice.pick(closed))
    if (dice.chance(0.04)) return { verb: 'start', task: opened(), which: which() }
    const verb = dice.weighted({
      ...verbs,
      ...(landed === 0 && { undo: 0 }),
      ...(undone === 0 && { redo: 0 }),
    })
    if (verb === 'undo') [landed, undone] = [landed - 1, undone + 1]
    else if (verb === 'redo') [landed, undone] = [landed + 1, undone - 1]
    else if (verb !== 'checkpoint' && verb !== 'run' && verb !== 'repair' && verb !== 'prune') landed += 1
    const task = opened()
    const order = { verb, task, which: which() }
    if (verb === 'reject' || verb === 'delete' || verb === 'forget') open.delete(task)
    if (verb === 'reject' && dice.chance(0.2)) return { ...order, keepBranch: true }
    if (verb === 'remove') return { ...order, ...(dice.chance(0.6) && { force: true as const }) }
    if (verb === 'update') return { ...order, ...(dice.chance(0.4) && { conflicts: 'markers' as const }) }
    return verb === 'accept' ? acceptOrder(order) : order
  }

  const acceptOrder = (order: VerbOrder): VerbOrder => {
    const as = dice.weighted({ patch: 8, squash: 4, merge: 3, rebase: 3, 'keep-branch': 1 })
    const part = as !== 'keep-branch' && dice.chance(0.35) && dice.pick(['only', 'step', 'hunks'] as const)
    const keep = dice.chance(0.25)
    if (!part && !keep) open.delete(order.task)
    return {
      ...order,
      as,
      ...(part && { part }),
      ...(keep && { keep: true as const }),
      ...(dice.chance(0.2) && { conflicts: 'markers' as const }),
    }
  }

  const fault = (verb: Verb): Plan => {
    const at = dice.between(1, effectsOf[verb])
    const kind = dice.weighted({ kill: 8, eio: 3, enospc: 3, eacces: 2, git: 1, cancel: 1 })
    if (kind === 'kill') {
      const child = dice.pick(['survives', 'dies', 'frozen'] as const)
      if (dice.chance(0.2))
        return { kind, at: dice.between(1, 8), among: '^(git |command)', when: 'during', child }
      return { kind, at, when: dice.pick(['before', 'after'] as const) }
    }
    if (kind === 'git') return { kind, at: dice.between(1, 8), among: '^(git |command)', when: 'during' }
    if (kind === 'enospc' && dice.chance(0.5)) return { kind, at, when: 'before', from: true }
    return { kind, at, when: kind === 'cancel' ? 'before' : dice.pick(['before', 'after'] as const) }
  }

  const several = (): Order => {
    const [first, second, third] = [verbOrder(), verbOrder(), verbOrder()]
    // Two that land would make the outcome a matter of luck.
    const apart = [first, second, third].filter(
      (order, n, all) => !all.slice(0, n).some((other) => clash(order, other)),
    )
    if (apart.length > 1 && dice.chance(0.3))
      apart[0] = { ...apart[0]!, fault: { kind: 'kill', at: dice.between(1, 30), when: 'before' } }
    if (apart.length === 1) apart.push(first)
    return { who: 'several', orders: apart }
  }

  history.push({ who: 'offshoot', order: startOf('T1') })
  while (history.length < length) {
    const who = dice.weighted({ user: 22, agent: open.size > 0 ? 30 : 0, offshoot: 44, several: 4 })
    if (who === 'user') history.push({ who, deed: dice.weighted(userDeeds), which: which() })
    else if (who === 'agent')
      history.push({ who, deed: dice.weighted(agentDeeds), task: opened(), which: which() })
    else if (who === 'several') history.push(several())
    else {
      const order = verbOrder()
      const struck = dice.chance(0.45)
      const rests = struck && dice.chance(0.4)
      history.push({
        who,
        order: struck ? { ...order, fault: fault(order.verb) } : order,
        ...(rests && { rests }),
      })
    }
  }
  return history
}

/** Verbs whose outcome depends on which of them comes first. */
function clash(a: VerbOrder, b: VerbOrder): boolean {
  const shared: readonly Verb[] = ['accept', 'undo', 'redo', 'forget', 'prune', 'update']
  const inCheckout = a.isolation === 'branch' || b.isolation === 'branch'
  return (
    a.task === b.task ||
    inCheckout ||
    (shared.includes(a.verb) && shared.includes(b.verb)) ||
    [a, b].some(({ verb }) => verb === 'forget')
  )
}
