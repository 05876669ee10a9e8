/**
 * Action → verb: the one table behind the command line, the library and every other door. Verbs are imported when
 * they are called, so that a command pays only for its own.
 */
import type { InHand } from '../core/auto-revert.ts'
import { AppError, appError } from '../core/errors.ts'
import type { Ports, Records, Step, StepFile } from '../core/ports.ts'
import type { Onlooker } from '../core/run-agent.ts'
import { poolNote } from '../core/slot.ts'
import { type Task, taskView } from '../core/task.ts'
import type { ActionName, Input, Output } from '../protocol/actions.ts'

/** Takes what happens while a long verb is under way. What it answers to a question is what a person says. */
export type Emit = (event: { readonly event: string } & Record<string, unknown>) => unknown

interface Handler<In, Out, Needs = Ports> {
  /** Whether the verb changes anything: only then is it preceded by a recovery. */
  readonly writes: boolean
  /** Recovery is a part of the verb. */
  readonly recovers?: true
  /** Only the user may do it: an agent that tries it is told to ask. */
  readonly forUser?: true
  run(ports: Needs, input: In, signal?: AbortSignal, emit?: Emit): Promise<Out>
}

type HandlerOf<A extends ActionName> = Handler<Input<A>, Output<A>>

/** What a command says, as events. */
function outputTo(emit: Emit | undefined) {
  return emit && ((stream: string, text: string) => emit({ event: 'output', stream, text }))
}

const start: HandlerOf<'task.start'> = {
  writes: true,
  async run(ports, { repo, ...input }, signal, emit) {
    const { start } = await import('../core/start.ts')
    const { task, reused, recreated, included, setup } = await start(
      ports,
      { dir: repo, onOutput: outputTo(emit), ...input },
      signal,
    )
    const given = included && {
      copied: [...included.copied],
      linked: [...included.linked],
      secrets: [...included.secrets],
    }
    return {
      task: taskView(task),
      reused,
      recreated,
      ...(given && { included: given }),
      ...(setup && { setup }),
    }
  },
}

const list: Handler<Input<'task.list'>, Output<'task.list'>, Records> = {
  writes: false,
  async run(records, { repo, ...input }) {
    const { list } = await import('../core/list.ts')
    return { tasks: (await list(records, { dir: repo, ...input })).map((task) => taskView(task)) }
  },
}

const show: HandlerOf<'task.show'> = {
  writes: false,
  async run(ports, { repo, task: name }, signal) {
    const { show } = await import('../core/show.ts')
    const { task, dirty, landed } = await show(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task, dirty, landed) }
  },
}

const prune: HandlerOf<'task.prune'> = {
  writes: true,
  async run(ports, { repo, ...input }, signal) {
    const { prune } = await import('../core/prune.ts')
    const { stale, removed, skipped, errors, warnings } = await prune(ports, { dir: repo, ...input }, signal)
    const told = ({ task, why }: { task: Task; why: string }) => ({ task: taskView(task), why })
    return {
      dryRun: input.dryRun ?? false,
      stale: stale.map(told),
      removed: removed.map((one) => ({ ...told(one), operation: one.operation })),
      skipped: skipped.map(told),
      errors: errors.map(({ task, error }) => ({ task: taskView(task), error: error.toJSON() })),
      warnings: [...warnings],
    }
  },
}

/** Actions that look into the records only: a door can answer them without loading the rest. */
export const recordHandlers = { 'task.list': list, 'worktree.list': list } as const

const pool: HandlerOf<'system.pool'> = {
  writes: true,
  async run(ports, { repo, clear }, signal) {
    const { fillPool } = await import('../core/pool.ts')
    return fillPool(ports, { dir: repo, clear }, signal)
  },
}

const trust: HandlerOf<'system.trust'> = {
  writes: true,
  forUser: true,
  async run(ports, { repo, ...input }, signal) {
    const { trust } = await import('../core/trust.ts')
    const { commands, trusted } = await trust(ports, { dir: repo, ...input }, signal)
    return { commands: commands.map(({ hook, command }) => ({ hook, command })), trusted }
  },
}

const handlers: { readonly [A in ActionName]: HandlerOf<A> } = {
  'system.pool': pool,
  'system.trust': trust,
  'task.start': start,
  'task.list': list,
  'task.show': show,
  'task.checkpoint': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { checkpoint } = await import('../core/checkpoint.ts')
      const taken = await checkpoint(ports, { dir: repo, ...input }, signal)
      return {
        created: taken.created,
        checkpoint: stepView(taken.step, taken.files, taken.published),
        ignored: taken.ignored,
        unpublished: taken.task.unpublished,
      }
    },
  },
  'task.log': {
    writes: false,
    async run(ports, { repo, task: name }, signal) {
      const { log } = await import('../core/log.ts')
      const { task, steps } = await log(ports, { dir: repo, task: name }, signal)
      return {
        task: taskView(task),
        checkpoints: steps.map((step) => stepView(step, step.files, step.published)),
      }
    },
  },
  'task.diff': {
    writes: false,
    async run(ports, { repo, ...input }, signal) {
      const { diff } = await import('../core/diff.ts')
      const { from, to, files, total, hunks, text } = await diff(ports, { dir: repo, ...input }, signal)
      const { insertions, deletions } = total
      const cut = hunks && { hunks: [...hunks] }
      return { from, to, files: [...files], insertions, deletions, ...cut, diff: text.toString() }
    },
  },
  'task.rewind': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { rewind } = await import('../core/rewind.ts')
      const { task, step, kept, published, operation } = await rewind(ports, { dir: repo, ...input }, signal)
      return {
        task: taskView(task),
        checkpoint: stepView(step, [], published),
        ...(kept && { kept: kept.n }),
        operation,
      }
    },
  },
  'task.run': {
    writes: true,
    async run(ports, { repo, command, ...input }, signal, emit) {
      const { runAgent } = await import('../core/run-agent.ts')
      const ran = await runAgent(
        ports,
        { dir: repo, argv: command, ...input },
        emit && onlooker(emit),
        signal,
      )
      const { agent, reason, exitCode, conversation, strays, operation } = ran.value
      const task = taskView(ran.task)
      if (reason !== '' && exitCode === undefined) {
        throw new AppError('WT_018', `${agent} failed: ${reason}`, { data: { task, run: ran.run, reason } })
      }
      return {
        task,
        run: ran.run,
        agent,
        ...(exitCode !== undefined && { exitCode }),
        ...(conversation !== undefined && { conversation }),
        strays: [...strays],
        ...(operation !== undefined && { operation }),
        ...(ran.taken && { checkpoint: stepView(ran.taken.step, ran.taken.files, ran.published) }),
      }
    },
  },
  'task.compare': {
    writes: false,
    async run(ports, { repo, ...input }, signal) {
      const { compare } = await import('../core/compare.ts')
      const { rows, diff } = await compare(ports, { dir: repo, ...input }, signal)
      const tasks = rows.map(({ task, files, shared, seconds }) => ({
        task: taskView(task),
        files: [...files],
        shared: [...shared],
        seconds,
      }))
      return { tasks, ...(diff !== undefined && { diff }) }
    },
  },
  'task.stop': {
    writes: true,
    async run(ports, { repo, task: name }, signal) {
      const { stop } = await import('../core/stop.ts')
      const { task, stopped } = await stop(ports, { dir: repo, task: name }, signal)
      return { task: taskView(task), stopped }
    },
  },
  'task.install': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { install } = await import('../core/install.ts')
      const { task, files, skipped } = await install(ports, { dir: repo, ...input }, signal)
      return { task: taskView(task), files: [...files], skipped: [...skipped] }
    },
  },
  'task.accept': {
    writes: true,
    forUser: true,
    async run(ports, { repo, ...input }, signal, emit) {
      const { accept } = await import('../core/accept.ts')
      const { siblingsOf } = await import('../core/siblings.ts')
      const { task, as, preview, operation, onto, commit, url, hook } = await accept(
        ports,
        { dir: repo, onOutput: outputTo(emit), ...input },
        signal,
      )
      const files = [...preview.files]
      if (input.dryRun) {
        const { clean, conflicts, runsCode, refused } = preview
        const lists = { conflicts: [...conflicts], runsCode: [...runsCode], refused: [...refused] }
        return { task: taskView(task), preview: { clean, files, ...lists } }
      }
      const accepted = { as, onto, commit, url, files }
      const others = siblingsOf(ports, task).map(({ id }) => id)
      return {
        task: taskView(task),
        accepted,
        operation,
        ...(hook && { hook }),
        ...(others.length > 0 && { siblings: others }),
      }
    },
  },
  'task.update': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { update } = await import('../core/update.ts')
      const { task, step, conflicts } = await update(ports, { dir: repo, ...input }, signal)
      return {
        task: taskView(task),
        ...(step && { checkpoint: stepView(step, []) }),
        conflicts: [...conflicts],
      }
    },
  },
  'task.reject': {
    writes: true,
    forUser: true,
    async run(ports, { repo, ...input }, signal, emit) {
      const { reject } = await import('../core/reject.ts')
      const { task, ...rest } = await reject(ports, { dir: repo, onOutput: outputTo(emit), ...input }, signal)
      return { task: taskView(task), ...rest }
    },
  },
  'task.delete': {
    writes: true,
    forUser: true,
    async run(ports, { repo, ...input }, signal, emit) {
      const { reject } = await import('../core/reject.ts')
      const asked = { dir: repo, hide: true, onOutput: outputTo(emit), ...input }
      const { task, ...rest } = await reject(ports, asked, signal)
      return { task: taskView(task), ...rest }
    },
  },
  'task.repair': {
    writes: true,
    // It does so itself, once the records can be read.
    recovers: true,
    async run(ports, { repo, ...input }, signal) {
      const { repair } = await import('../core/repair.ts')
      const { task, mended, repaired, left, rebuilt } = await repair(ports, { dir: repo, ...input }, signal)
      return {
        ...(task && { task: taskView(task), mended }),
        repaired: [...repaired],
        left: [...left],
        ...(rebuilt && { rebuilt: { ...rebuilt, tasks: [...rebuilt.tasks], left: [...rebuilt.left] } }),
      }
    },
  },
  'task.prune': prune,
  'worktree.create': start,
  'worktree.list': list,
  'worktree.show': show,
  'worktree.remove': {
    writes: true,
    forUser: true,
    async run(ports, { repo, ...input }, signal, emit) {
      const { remove } = await import('../core/remove.ts')
      const { task, removed, ignored, branchKept, landed, operation } = await remove(
        ports,
        { dir: repo, onOutput: outputTo(emit), ...input },
        signal,
      )
      return {
        removed,
        task: taskView(task, null, landed),
        branchKept,
        ignored: [...ignored],
        trash: task.trash ?? null,
        operation,
      }
    },
  },
  'worktree.prune': prune,
  'system.doctor': {
    writes: false,
    async run(ports, { repo }, signal) {
      const { doctor } = await import('../core/doctor.ts')
      return { checks: [...(await doctor(ports, { dir: repo }, signal))] }
    },
  },
  'system.recover': {
    writes: false,
    async run(ports, _, signal) {
      const { recover } = await import('../core/recover.ts')
      const { recovered, reported } = await recover(ports, signal)
      return { recovered: [...recovered], reported: [...reported] }
    },
  },
  'system.ops': {
    writes: false,
    async run(ports, { repo }) {
      const { ops } = await import('../core/undo.ts')
      return { operations: await ops(ports, { dir: repo }) }
    },
  },
  'system.undo': {
    writes: true,
    forUser: true,
    async run(ports, { repo, operation }, signal) {
      const { undo } = await import('../core/undo.ts')
      const done = await undo(ports, { dir: repo, operation }, signal)
      const { id, verb } = done.undone
      return {
        task: taskView(done.task),
        undone: id,
        verb,
        operation: done.operation,
        files: [...done.files],
      }
    },
  },
  'system.audit': {
    writes: false,
    async run(ports, { repo, verify: verifies, ...input }) {
      const { audit, verify } = await import('../core/audit.ts')
      if (!verifies) return { events: await audit(ports, { dir: repo, ...input }) }
      const { flaws, ...verified } = verify(ports)
      return { verified: { ...verified, flaws: [...flaws] } }
    },
  },
  'system.direct': {
    writes: false,
    async run(ports, { repo, command, ...input }, signal, emit) {
      const { runDirect } = await import('../core/run-direct.ts')
      const asked = { dir: repo, starts: true, argv: command, ...input }
      const { agent, end } = await runDirect(ports, asked, emit && onlooker(emit), signal)
      const { ok, reason, exitCode } = end
      if (!ok && exitCode === undefined) throw new AppError('WT_018', `${agent} failed: ${reason}`)
      return { direct: true, agent, ...(exitCode !== undefined && { exitCode }) }
    },
  },
  'system.agents': {
    writes: false,
    async run(ports, { repo }, signal) {
      const { agents } = await import('../core/agents.ts')
      return { agents: await agents(ports, repo, signal) }
    },
  },
  'system.repos': {
    writes: false,
    async run(ports) {
      const { repos } = await import('../core/repos.ts')
      return { repos: await repos(ports) }
    },
  },
  'system.forget': {
    writes: true,
    forUser: true,
    async run(ports, { repo }, signal) {
      const { forget } = await import('../core/forget.ts')
      const { path, closed } = await forget(ports, { path: repo }, signal)
      return {
        repo: path,
        closed: closed.map(({ task, operation }) => ({ task: taskView(task), operation })),
      }
    },
  },
  'system.config': {
    writes: false,
    async run(ports, { repo }) {
      const place = await ports.locate(repo).catch(() => undefined)
      return { settings: await ports.settings.readWithOrigin(place?.checkout ?? null) }
    },
  },
}

/** A run as lines that a program can read; a door with a person behind it answers `asked`. */
function onlooker(emit: Emit): Onlooker {
  return {
    tell(told) {
      if (told.event === 'checkpoint')
        return void emit({ event: told.event, checkpoint: stepView(told.taken.step, told.taken.files) })
      if (told.event === 'started') return void emit({ ...told, task: taskView(told.task) })
      emit({ ...told })
    },
    async ask(call, reason) {
      const said = await emit({ event: 'asked', ...call, reason })
      return said === 'once' || said === 'always' || said === 'deny' ? said : undefined
    },
  }
}

function stepView(step: Step, files: readonly StepFile[], published?: string) {
  const { n, commit, tool, summary, at, run, call, rewindTo, skipped } = step
  return {
    n,
    commit,
    ...(published !== undefined && { published }),
    tool,
    summary,
    files: [...files],
    at,
    run,
    call,
    rewindTo,
    skipped: [...skipped],
  }
}

/** Whether an action changes anything. */
export function writes(action: ActionName): boolean {
  return handlers[action].writes
}

/** Runs one action. What an earlier process left half-done is put right before anything is changed. */
export async function call<A extends ActionName>(
  ports: Ports,
  action: A,
  input: Input<A>,
  signal?: AbortSignal,
  emit?: Emit,
): Promise<Output<A>> {
  const handler = handlers[action]
  try {
    signal?.throwIfAborted()
    if (handler.forUser && !onlyTells(input)) requireUser(ports, action)
    if (handler.writes && !handler.recovers && needsRecovery(ports)) {
      const { recoverFirst } = await import('../core/recover.ts')
      await recoverFirst(ports, signal)
    }
    if (handler.writes && !handler.recovers && givesUp(action, input)) {
      const { autoRevert } = await import('../core/auto-revert.ts')
      await autoRevert(ports, inHand(action, input))
    }
    return await handler.run(ports, input, signal, emit)
  } catch (thrown) {
    const error = failure(thrown, signal)
    if (error.code !== 'WT_014' || !hasOnlyStarted(action, error)) throw error
    if (!(await hasMadeRoom(ports, signal))) throw error
    return await handler.run(ports, input, signal, emit).catch((again: unknown) => {
      throw failure(again, signal)
    })
  }
}

/** What failed was the making of a task, which can be tried again. */
function hasOnlyStarted(action: ActionName, { data }: AppError): boolean {
  return (
    action === 'task.start' ||
    action === 'worktree.create' ||
    (action === 'task.run' && data?.started === false)
  )
}

function onlyTells(input: { readonly dryRun?: boolean; readonly show?: boolean } | object): boolean {
  return ('dryRun' in input && input.dryRun === true) || ('show' in input && input.show === true)
}

/** From under the run of an agent it becomes a question to the user. */
function requireUser(ports: Ports, action: ActionName): void {
  const run = ports.processes.findRun()
  if (run === undefined) return
  const verb = action.split('.')[1] ?? action
  const task = ports.store
    .readPendingTasks()
    .find(({ pending }) => pending?.verb === 'run' && pending.run === run)
  if (task) ports.store.append(task.uid, { type: 'run.wanted', run, verb }, ports.clock.now().toISOString())
  const words = action.startsWith('worktree.') ? `worktree ${verb}` : verb
  const whose = task && !action.startsWith('system.') ? ` ${task.id}` : ''
  throw new AppError('WT_017', `An agent may not ${verb}: that is for the user to decide.`, {
    hint: `The user now knows that you want it. They run: offshoot ${words}${whose}`,
  })
}

/** The disk is full: the trash gives up what it can spare, and what could not be taken back is. */
async function hasMadeRoom(ports: Ports, signal?: AbortSignal): Promise<boolean> {
  const { makeRoom } = await import('../core/room.ts')
  const { recover } = await import('../core/recover.ts')
  const left = await makeRoom(ports, undefined, signal).catch(() => 0)
  await recover(ports, signal).catch(() => [])
  return left > 0
}

/**
 * Undo is about what was done before, and forgetting gives everything up by itself. What a run goes on with, its
 * conversation says.
 */
function givesUp(action: ActionName, input: object): boolean {
  return !action.startsWith('system.') && !('resume' in input && input.resume)
}

function inHand(action: ActionName, input: object): InHand {
  const { repo: dir = '', task } = input as { repo?: string; task?: string }
  const makesNew = action === 'task.start' || action === 'worktree.create' || action === 'task.run'
  return { dir, task, byFolder: !makesNew && !action.endsWith('.prune') }
}

/** Somebody stopped in the middle of a verb, or died with a child at work. */
function needsRecovery({ store, processes }: Ports): boolean {
  if (store.readPendingTasks().length > 0 || processes.readDeadOwners().length > 0) return true
  return store.readNotes(poolNote('')).size > 0
}

/** A signal may be given any reason; that it was pulled is told in one way. */
function failure(thrown: unknown, signal?: AbortSignal): AppError {
  if (thrown instanceof AppError || !signal?.aborted || thrown !== signal.reason) return appError(thrown)
  return new AppError('WT_021', 'Cancelled.', { cause: thrown })
}
