/** Counts the turns of an agent, for `limits.turns`. */
import type { AgentEvent } from '../model/agent.ts'

/** A turn is one answer of the model: the events between the end of one tool and the next. */
export function turnCounter(): (event: AgentEvent) => number {
  let count = 0
  let answered = false
  return ({ type }) => {
    if (type === 'toolEnded') answered = false
    else if ((type === 'message' || type === 'toolStarted') && !answered) {
      answered = true
      count++
    }
    return count
  }
}
