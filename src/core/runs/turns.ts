/** The limits of a run, `limits.turns` and `limits.timeMinutes`, and what the run has used of them. */
import type { AgentEvent } from '../model/agent.ts'

/** 0 is no limit. */
export interface Limits {
  readonly timeMinutes: number
  readonly turns: number
}

/** They hold for the whole run, however often the user says something in it. */
export interface LimitsUsed extends Limits {
  /** How many turns there have been, with this event. */
  readonly count: (event: AgentEvent) => number
  /** Is aborted when the time is over. */
  readonly late: AbortSignal | undefined
  readonly leftMs: () => number
}

/** Begins to count now. */
export function useLimits({ timeMinutes, turns }: Limits): LimitsUsed {
  const ms = timeMinutes > 0 ? Math.ceil(timeMinutes * 60_000) : Infinity
  const deadline = performance.now() + ms
  return {
    timeMinutes,
    turns,
    count: turnCounter(),
    late: timeMinutes > 0 ? AbortSignal.timeout(ms) : undefined,
    leftMs: () => Math.max(deadline - performance.now(), 0),
  }
}

/** A turn is one answer of the model: the events between the end of one tool, or of one prompt, and the next. */
export function turnCounter(): (event: AgentEvent) => number {
  let count = 0
  let answered = false
  return ({ type }) => {
    if (type === 'toolEnded' || type === 'ended') answered = false
    else if ((type === 'message' || type === 'toolStarted') && !answered) {
      answered = true
      count++
    }
    return count
  }
}
