/** The plan of an agent, where it keeps one with a tool of its own. */
import type { PlanEntry } from '../core/model/agent.ts'

const states: ReadonlySet<unknown> = new Set<PlanEntry['state']>(['pending', 'in_progress', 'completed'])

/** The entries of a tool such as Claude's TodoWrite: `{todos: [{content, status}]}`; undefined for any other input. Pure. */
export function planOf(input: unknown): readonly PlanEntry[] | undefined {
  const { todos } = (typeof input === 'object' && input !== null ? input : {}) as { todos?: unknown }
  if (!Array.isArray(todos)) return undefined
  return todos.flatMap((todo: unknown) => {
    const { content, status } = (typeof todo === 'object' && todo !== null ? todo : {}) as Record<
      string,
      unknown
    >
    return typeof content === 'string' ? [{ text: content, state: stateOf(status) }] : []
  })
}

export function stateOf(status: unknown): PlanEntry['state'] {
  return states.has(status) ? (status as PlanEntry['state']) : 'pending'
}
