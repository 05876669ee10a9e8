/** The way from a door to a verb, and what comes before every one. */
import type { InHand } from '../core/auto-revert.ts'
import { AppError, appError } from '../core/errors.ts'
import type { Ports } from '../core/ports.ts'
import { poolNote } from '../core/slot.ts'
import type { ActionName, Input, Output } from '../protocol/actions.ts'
import { handlers } from './handlers.ts'
import type { Emit } from './views.ts'

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
    // To tell what would land, a step is taken of what nobody has taken yet.
    const writes = handler.writes && (!onlyTells(input) || action === 'task.accept')
    if (handler.forUser && !onlyTells(input)) await requireUser(ports, action, handler.forUser)
    if (writes && !handler.recovers && (await needsRecovery(ports))) {
      const { recoverFirst } = await import('../core/recover.ts')
      await recoverFirst(ports, signal)
    }
    if (writes && !handler.recovers && !onlyTells(input) && givesUp(action, input)) {
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
async function requireUser(ports: Ports, action: ActionName, command: string): Promise<void> {
  const run = ports.processes.findRun()
  if (run === undefined) return
  const task = (await ports.store.readPendingTasks()).find(
    ({ pending }) => pending?.verb === 'run' && pending.run === run,
  )
  if (task) {
    const { append } = await import('../core/tasks/records.ts')
    await append(ports, task.uid, { type: 'run.wanted', run, verb: command }, ports.clock.now().toISOString())
  }
  const whose = task && !action.startsWith('system.') ? ` ${task.id}` : ''
  throw new AppError('WT_017', `An agent may not ${command}: that is for the user to decide.`, {
    hint: `The user now knows that you want it. They run: offshoot ${command}${whose}`,
  })
}

/** The disk is full: the trash gives up what it can spare, and what could not be taken back is. */
async function hasMadeRoom(ports: Ports, signal?: AbortSignal): Promise<boolean> {
  const { freeSpace } = await import('../core/room.ts')
  const { recover } = await import('../core/recover.ts')
  const left = await freeSpace(ports, undefined, signal).catch(() => 0)
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
async function needsRecovery({ store, notes, processes }: Ports): Promise<boolean> {
  if ((await store.readPendingTasks()).length > 0 || processes.readDeadOwners().length > 0) return true
  return (await notes.readBelow(poolNote(''))).size > 0
}

/** A signal may be given any reason; that it was pulled is told in one way. */
function failure(thrown: unknown, signal?: AbortSignal): AppError {
  if (thrown instanceof AppError || !signal?.aborted || thrown !== signal.reason) return appError(thrown)
  return new AppError('WT_021', 'Cancelled.', { cause: thrown })
}
