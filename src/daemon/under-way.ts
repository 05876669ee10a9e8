/** The requests that are being answered, so that a stop can wait for them and then cancel them. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { AppError } from '../core/model/errors.ts'

export interface UnderWay {
  /** Runs `work`, whose signal aborts when the client leaves or when all are cancelled. A door without a response sees itself whether the client leaves. */
  run<T>(response: ServerResponse | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  readonly size: number
  /** Resolves when none is left but `others`, or when the time is over. */
  settle(ms: number, others: number): Promise<void>
  cancelAll(): void
}

export function openUnderWay(): UnderWay {
  const running = new Map<AbortController, Promise<unknown>>()
  return {
    async run(response, work) {
      const cancel = new AbortController()
      const leave = () => cancel.abort(new AppError('cancelled', 'The client left before the answer.'))
      response?.once('close', leave)
      if (response?.closed) leave()
      const answer = work(cancel.signal)
      running.set(cancel, answer)
      try {
        return await answer
      } finally {
        running.delete(cancel)
        response?.off('close', leave)
      }
    },
    get size() {
      return running.size
    },
    async settle(ms, others) {
      const late = AbortSignal.timeout(ms)
      const over = once(late, 'abort').catch(() => {})
      while (running.size > others && !late.aborted) {
        const ended = [...running.values()].map((answer) => answer.catch(() => {}))
        await Promise.race([over, ...ended])
        // The request that has ended takes itself out of the list only now.
        await new Promise(setImmediate)
      }
    },
    cancelAll() {
      for (const cancel of running.keys()) cancel.abort(new AppError('cancelled', 'The daemon stops.'))
    },
  }
}
