/** Who asks for an action. A door finds that out by itself and hands it to `openDoor`: no input can say it. */
import type { Action, Scope } from '../actions/action.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'

export type Caller =
  | {
      readonly kind: 'user'
      /** Nobody sits there who could answer, as in CI. */
      readonly isUnattended?: boolean | undefined
    }
  /** A process below the run of an agent. */
  | { readonly kind: 'agent'; readonly run: string }
  | { readonly kind: 'token'; readonly scopes: readonly Scope[] }

/** The user, unless the process is a part of a run. */
export function callerOf(run: string | undefined, isUnattended?: boolean): Caller {
  return run === undefined ? { kind: 'user', isUnattended } : { kind: 'agent', run }
}

/** A token does only what its scopes say: else `policyRefused`. To see a preview, `look` is enough. */
export function requireScope(caller: Caller, action: Action, isPreview = false): void {
  const needed = isPreview ? 'look' : action.scope
  if (caller.kind !== 'token' || caller.scopes.includes(needed)) return
  throw new AppError('policyRefused', `This token lacks the scope ${needed}.`, {
    hint: 'Ask with a token that has it.',
    data: { scope: needed },
  })
}

/** Refuses an agent what only the user may do: `policyRefused`. What it wanted becomes a question to the user. */
export async function requireUser(ports: Ports, caller: Caller, { forUser, options }: Action): Promise<void> {
  if (caller.kind !== 'agent' || forUser === undefined) return
  const { run } = caller
  // To name the store is to open it, which doctor must not need.
  const { store, clock } = ports
  const pending = await store.readPendingTasks()
  const task = pending.find(({ pending: mark }) => mark?.verb === 'run' && mark.run === run)
  if (task) {
    const { append } = await import('../core/tasks/records.ts')
    await append(ports, task.uid, { type: 'run.wanted', run, verb: forUser }, clock.now().toISOString())
  }
  const whose = task && options.task ? ` ${task.id}` : ''
  throw new AppError('policyRefused', `An agent may not ${forUser}: that is for the user to decide.`, {
    hint: `The user now knows that you want it. They run: offshoot ${forUser}${whose}`,
  })
}
