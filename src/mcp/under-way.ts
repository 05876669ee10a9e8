/** The calls that are being answered, so that a server that ends can cancel them and wait for them. */
import type { Call } from '../api/call.ts'
import { AppError } from '../core/model/errors.ts'

export interface UnderWay {
  readonly call: Call
  /** Cancels every call, and resolves when none is left. */
  cancel(): Promise<void>
}

export function openUnderWay(call: Call): UnderWay {
  const running = new Set<Promise<unknown>>()
  const stop = new AbortController()
  return {
    call(action, input, signal, emit) {
      const answer = call(action, input, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal, emit)
      const ended = answer.catch(() => {}).finally(() => running.delete(ended))
      running.add(ended)
      return answer
    },
    async cancel() {
      stop.abort(new AppError('cancelled', 'Cancelled: the server ends.'))
      while (running.size > 0) await Promise.all(running)
    },
  }
}
