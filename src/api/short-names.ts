/** Replaces short names of tasks in the input of an action by ids, before anything is checked (docs/adr/0048-short-names.md). */
import type { Action } from '../actions/action.ts'
import type { Records } from '../core/ports/index.ts'

/** The same input, in which every task is named by its id. Reads the records only if a name could be short. */
export async function withWholeIds<I extends object>(records: Records, action: Action, input: I): Promise<I> {
  const given = input as Readonly<Record<string, unknown>>
  const found: Record<string, unknown> = {}
  for (const [field, { names }] of Object.entries(action.options)) {
    const value = given[field]
    if (names === undefined || value === undefined) continue
    // Loaded only here, because `list` would wait for it.
    const { wholeId } = await import('../core/tasks/find.ts')
    const takesBeginning = names === 'task' && takesBeginnings(action, given)
    const whole = (name: unknown) => wholeId(records, String(given.repo), String(name), takesBeginning)
    found[field] = Array.isArray(value) ? await Promise.all(value.map(whole)) : await whole(value)
  }
  return { ...input, ...found }
}

/** Whether the beginning of an id is enough: a wrong task that was meant costs a look, or an undo. */
function takesBeginnings({ scope, undoable }: Action, input: Readonly<Record<string, unknown>>): boolean {
  if (undoable === undefined || undoable === true) return scope === 'look' || undoable === true
  return !Object.entries(undoable.except).some(([field, values]) => values.includes(String(input[field])))
}
