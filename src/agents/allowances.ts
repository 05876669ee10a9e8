/** Compares the tool calls that were allowed with those that have run, by the agent's own stream. */
import type { ToolCall } from '../core/model/agent.ts'
import type { Push } from './events.ts'

export interface Allowances {
  /** One more call that this stands for may run. */
  allow(key: string): void
  /** A call has run. If it was not allowed, hooks are off or were passed by, and the run ends. */
  ran(key: string, call: ToolCall): void
}

/** `key` is what hook and stream both have of a call: its id, or its name where calls have no ids. */
export function allowances(push: Push): Allowances {
  const left = new Map<string, number>()
  const count = (key: string) => left.get(key) ?? 0
  return {
    allow: (key) => void left.set(key, count(key) + 1),
    ran(key, call) {
      if (count(key) === 0) return push({ type: 'unasked', ...call })
      left.set(key, count(key) - 1)
    },
  }
}
