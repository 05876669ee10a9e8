import type { AgentEvent } from '../model/agent.ts'

/** Counts the answers of the model: each is what comes between one end of a tool and the next. */
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
