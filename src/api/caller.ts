/** The caller of an action. The door finds out who it is and hands it to `openDoor`; no input can claim it. */
import type { Action, Scope } from '../actions/action.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'

export type Caller =
  | {
      readonly kind: 'user'
      /** Nobody is there to answer, as in CI. */
      readonly isUnattended?: boolean | undefined
    }
  /** A process below the run of an agent. */
  | { readonly kind: 'agent'; readonly run: string }
  | { readonly kind: 'token'; readonly scopes: readonly Scope[] }

/** The user, unless the process is a part of a run. */
export function callerOf(run: string | undefined, isUnattended?: boolean): Caller {
  return run === undefined ? { kind: 'user', isUnattended } : { kind: 'agent', run }
}

/** Throws `policyRefused` for a token without the scope of the action. A preview that writes nothing needs only `look`. */
export function requireScope(caller: Caller, action: Action, isPreview = false): void {
  const needed = isPreview && !action.previewWrites ? 'look' : action.scope
  if (caller.kind !== 'token' || caller.scopes.includes(needed)) return
  throw new AppError('policyRefused', `This token lacks the scope ${needed}.`, {
    hint: `Use a token with the scope ${needed}.`,
    data: { scope: needed },
  })
}

/** Throws `policyRefused` when an agent calls an action that only the user may call, and records the wish, which the user is told. */
export async function requireUser(ports: Ports, caller: Caller, { forUser, options }: Action): Promise<void> {
  if (caller.kind !== 'agent' || forUser === undefined) return
  const { run } = caller
  // Reading `ports.store` opens the store. `doctor` must work without it, so this comes after the return above.
  const { store, clock } = ports
  const pending = await store.readPendingTasks()
  const task = pending.find(({ pending: mark }) => mark?.verb === 'run' && mark.run === run)
  if (task) {
    const { append } = await import('../core/tasks/records.ts')
    await append(ports, task.uid, { type: 'run.wanted', run, verb: forUser }, clock.now().toISOString())
  }
  const whose = task && options.task ? ` ${task.id}` : ''
  throw new AppError('policyRefused', `An agent may not ${forUser}: that is for the user to decide.`, {
    hint: `The user is told that you want it. Only they can run: offshoot ${forUser}${whose}`,
  })
}
