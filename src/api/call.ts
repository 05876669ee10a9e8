/** Calls an action for a door: checks the caller, recovers what a dead process left, then runs the verb. */
import type { Action } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { openWatch } from '../core/base/watch.ts'
import type { InHand } from '../core/closing/auto-revert.ts'
import { type AppError, appError } from '../core/model/errors.ts'
import type { Ports, Records } from '../core/ports/index.ts'
import { poolNote } from '../core/workspaces/slot.ts'
import type { Input, Output } from '../protocol/schemas/index.ts'
import { type Caller, requireOwnRepo, requireScope, requireUser } from './caller.ts'
import { handlers } from './handlers/index.ts'
import { type RecordAction, recordHandlers } from './handlers/records.ts'
import { withWholeIds } from './short-names.ts'
import { type Emit, watcherOf } from './views.ts'

/** Runs one action. */
export type Call = <A extends ActionName>(
  action: A,
  input: Input<A>,
  signal?: AbortSignal,
  emit?: Emit,
) => Promise<Output<A>>

/** Opens all actions for one caller. The first call reads who the caller is, and later ones reuse it. */
export function openDoor(ports: Ports, readCaller: () => Caller): Call {
  let caller: Caller | undefined
  return async (name, asking, cancel, emit) => {
    const action = actions[name]
    const run = handlers[name]
    const watch = openWatch(ports.clock, cancel, watcherOf(emit))
    const { signal } = watch
    try {
      signal?.throwIfAborted()
      caller ??= readCaller()
      const asked = { caller, signal, emit, watch }
      const input = await prepare(ports, caller, name, asking, signal)
      const answer = await run(ports, input, asked).catch(async (thrown: unknown) => {
        const error = appError(thrown)
        if (error.problem !== 'diskFull' || !hasOnlyStarted(action, error)) throw error
        if (!(await hasFreedSpace(ports, signal))) throw error
        return run(ports, input, asked)
      })
      return action.makes && !previews(action, input) ? await withWarnings(ports, input, answer) : answer
    } catch (thrown) {
      throw appError(thrown)
    } finally {
      watch.close()
    }
  }
}

/** The answer, with lines for the user if the disk is nearly full. */
async function withWarnings<T extends object>(ports: Ports, input: object, answer: T): Promise<T> {
  const { diskWarnings } = await import('../core/trash/disk-warning.ts')
  const warnings = await diskWarnings(ports, 'repo' in input ? String(input.repo) : ports.home)
  return warnings.length > 0 ? { ...answer, warnings } : answer
}

/**
 * Opens the actions that read only the records, for the command line before it has opened anything else
 * (docs/adr/0016-records-apart-and-one-bundle.md). The user and every agent may look, so that no scope is checked; who it
 * is takes a walk through the parents of the process, which only a notice is worth.
 */
export function openLook(records: Records, readCaller: () => Caller) {
  return async <A extends RecordAction>(
    name: A,
    input: Input<A>,
    signal?: AbortSignal,
  ): Promise<Output<A>> => {
    signal?.throwIfAborted()
    const asked = {
      signal,
      get caller() {
        return readCaller()
      },
    }
    return recordHandlers[name](records, input, asked)
  }
}

/**
 * The input with whole ids. Checks the caller by them. Before an action that writes, also recovers verbs of dead processes and
 * rejects tasks that are due for it.
 */
async function prepare<I extends object>(
  ports: Ports,
  caller: Caller,
  name: ActionName,
  asking: I,
  signal: AbortSignal | undefined,
): Promise<I> {
  const action: Action = actions[name]
  const isPreview = previews(action, asking)
  requireScope(caller, action, isPreview, asking)
  // Before a name is looked up: its error could name tasks of another repository.
  await requireOwnRepo(ports, caller, asking)
  const input = await withWholeIds(ports, action, asking)
  await requireUser(ports, caller, name, input)
  if (!action.writes || action.recovers || (isPreview && !action.previewWrites)) return input
  if (await needsRecovery(ports)) {
    const { recoverFirst } = await import('../core/recovery/reconcile.ts')
    await recoverFirst(ports, signal)
  }
  if (action.revertsFirst && !isPreview && !resumes(input)) {
    const { autoRevert } = await import('../core/closing/auto-revert.ts')
    await autoRevert(ports, inHand(action, input))
  }
  return input
}

/** Whether the input asks for a preview. */
export function previews(
  { previews: field }: Action,
  input: { readonly [field: string]: unknown } | object,
): boolean {
  return field !== undefined && field in input && (input as Record<string, unknown>)[field] === true
}

/** The run continues a conversation. Only the conversation says of which task, so auto-revert is skipped: it could not spare that task. */
function resumes(input: object): boolean {
  return 'resume' in input && Boolean(input.resume)
}

/** The action failed before the task was made, so it can be tried again. */
function hasOnlyStarted({ makesTask }: Action, { data }: AppError<'diskFull'>): boolean {
  return makesTask === 'always' || (makesTask === 'whenMissing' && data?.started === false)
}

/** Frees space on a full disk: shrinks the trash, then rolls back what there was no space to roll back. */
async function hasFreedSpace(ports: Ports, signal?: AbortSignal): Promise<boolean> {
  const { freeSpace } = await import('../core/trash/free-space.ts')
  const { recover } = await import('../core/recovery/reconcile.ts')
  const left = await freeSpace(ports, undefined, signal).catch(() => 0)
  await recover(ports, signal).catch(() => [])
  return left > 0
}

/** The task that the action is about, which auto-revert must leave alone. Without a name most actions mean the task of the folder; `start` and `run` do not. */
function inHand({ makesTask, options }: Action, input: object): InHand {
  const { repo: dir = '', task } = input as { repo?: string; task?: string }
  return { dir, task, byFolder: makesTask === undefined && options.task !== undefined }
}

/** A verb did not finish, or its process died while a child was running. */
async function needsRecovery({ store, notes, processes }: Ports): Promise<boolean> {
  if ((await store.readPendingTasks()).length > 0 || processes.readDeadOwners().length > 0) return true
  return (await notes.readBelow(poolNote(''))).size > 0
}
