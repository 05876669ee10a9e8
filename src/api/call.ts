/** The way from a door to a verb, and what comes before every one. */
import type { Action } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import type { InHand } from '../core/closing/auto-revert.ts'
import { AppError, appError } from '../core/model/errors.ts'
import type { Ports, Records } from '../core/ports/index.ts'
import { poolNote } from '../core/workspaces/slot.ts'
import type { Input, Output } from '../protocol/schemas/index.ts'
import { type Caller, requireScope, requireUser } from './caller.ts'
import { handlers } from './handlers/index.ts'
import { type RecordAction, recordHandlers } from './handlers/records.ts'
import type { Emit } from './views.ts'

/** Runs one action. */
export type Call = <A extends ActionName>(
  action: A,
  input: Input<A>,
  signal?: AbortSignal,
  emit?: Emit,
) => Promise<Output<A>>

/** The actions, for one caller, who is looked up when the first one is called. */
export function openDoor(ports: Ports, readCaller: () => Caller): Call {
  let caller: Caller | undefined
  return async (name, input, signal, emit) => {
    const action = actions[name]
    const run = handlers[name]
    try {
      signal?.throwIfAborted()
      caller ??= readCaller()
      const asked = { caller, signal, emit }
      await prepare(ports, caller, action, input, signal)
      return await run(ports, input, asked).catch(async (thrown: unknown) => {
        const error = failure(thrown, signal)
        if (error.problem !== 'diskFull' || !hasOnlyStarted(action, error)) throw error
        if (!(await hasFreedSpace(ports, signal))) throw error
        return run(ports, input, asked)
      })
    } catch (thrown) {
      throw failure(thrown, signal)
    }
  }
}

/** The actions that need the records only, for a door that has opened nothing else. */
export function openLook(records: Records, readCaller: () => Caller) {
  return async <A extends RecordAction>(
    name: A,
    input: Input<A>,
    signal?: AbortSignal,
  ): Promise<Output<A>> => {
    signal?.throwIfAborted()
    const caller = readCaller()
    requireScope(caller, actions[name])
    return recordHandlers[name](records, input, { caller, signal })
  }
}

/** Before anything is changed, what an earlier process left half-done is put right. */
async function prepare(
  ports: Ports,
  caller: Caller,
  action: Action,
  input: object,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isPreview = previews(action, input)
  requireScope(caller, action, isPreview)
  if (!isPreview) await requireUser(ports, caller, action)
  if (!action.writes || action.recovers || (isPreview && !action.previewWrites)) return
  if (await needsRecovery(ports)) {
    const { recoverFirst } = await import('../core/recovery/reconcile.ts')
    await recoverFirst(ports, signal)
  }
  if (action.revertsFirst && !isPreview && !resumes(input)) {
    const { autoRevert } = await import('../core/closing/auto-revert.ts')
    await autoRevert(ports, inHand(action, input))
  }
}

function previews(
  { previews: field }: Action,
  input: { readonly [field: string]: unknown } | object,
): boolean {
  return field !== undefined && field in input && (input as Record<string, unknown>)[field] === true
}

/** A run goes on with a conversation: which task that is, only the conversation says. */
function resumes(input: object): boolean {
  return 'resume' in input && Boolean(input.resume)
}

/** What failed was the making of a task, which can be tried again. */
function hasOnlyStarted({ makesTask }: Action, { data }: AppError): boolean {
  return makesTask === 'always' || (makesTask === 'whenMissing' && data?.started === false)
}

/** The disk is full: the trash gives up what it can spare, and what could not be taken back is. */
async function hasFreedSpace(ports: Ports, signal?: AbortSignal): Promise<boolean> {
  const { freeSpace } = await import('../core/trash/free-space.ts')
  const { recover } = await import('../core/recovery/reconcile.ts')
  const left = await freeSpace(ports, undefined, signal).catch(() => 0)
  await recover(ports, signal).catch(() => [])
  return left > 0
}

/** Without a name, most actions mean the task whose workspace the folder is; one that makes a task does not. */
function inHand({ makesTask, options }: Action, input: object): InHand {
  const { repo: dir = '', task } = input as { repo?: string; task?: string }
  return { dir, task, byFolder: makesTask === undefined && options.task !== undefined }
}

/** Somebody stopped in the middle of a verb, or died with a child at work. */
async function needsRecovery({ store, notes, processes }: Ports): Promise<boolean> {
  if ((await store.readPendingTasks()).length > 0 || processes.readDeadOwners().length > 0) return true
  return (await notes.readBelow(poolNote(''))).size > 0
}

/** A signal may be given any reason; that it was pulled is told in one way. */
function failure(thrown: unknown, signal?: AbortSignal): AppError {
  if (thrown instanceof AppError || !signal?.aborted || thrown !== signal.reason) return appError(thrown)
  return new AppError('cancelled', 'Cancelled.', { cause: thrown })
}
