/** Remembers the answers to requests that write, so that a retry gets the first answer instead of doing it again. */
import { AppError } from '../core/model/errors.ts'

/** From the end of the work on: an agent may take longer than this. */
const keptMs = 10 * 60_000
const most = 1000
/** A client whose connection broke may come back for its answer within this time. */
const graceMs = 10_000

/** A key as a client may choose it. */
const keyForm = /^[\x21-\x7e]{1,128}$/

interface Asked<T> {
  /** Who asks for what: the key of one client says nothing about that of another. */
  readonly scope: string
  readonly key: string
  /** The request itself; the same key with another request is a mistake. */
  readonly content: string
  /** Its signal aborts when nobody waits for the answer any more. */
  readonly work: (signal: AbortSignal) => Promise<T>
  /** Aborts when the client has left. Without it, the client comes back whenever it likes. */
  readonly leaves?: AbortSignal | undefined
  /** Aborts when the client has changed its mind. */
  readonly cancels?: AbortSignal | undefined
}

export interface Once<T> {
  /** The answer of `work`, or of an earlier call with the same key. Throws `wrongUsage` for a key that was used for another request. */
  answer(asked: Asked<T>): Promise<T>
}

interface Kept<T> {
  readonly content: string
  readonly answer: Promise<T>
  readonly cancel: AbortController
  waiting: number
  leaving?: NodeJS.Timeout
}

export function openOnce<T>(now: () => number): Once<T> {
  const underWay = new Map<string, Kept<T>>()
  /** The oldest first. */
  const ended = new Map<string, Kept<T> & { readonly until: number }>()
  const forgetOld = () => {
    for (const [name, { until }] of ended) {
      if (until > now() && ended.size <= most) break
      ended.delete(name)
    }
  }
  const begin = (name: string, { content, work }: Asked<T>): Kept<T> => {
    const cancel = new AbortController()
    const kept = { content, answer: work(cancel.signal), cancel, waiting: 0 }
    underWay.set(name, kept)
    const end = () => {
      underWay.delete(name)
      ended.set(name, { ...kept, until: now() + keptMs })
    }
    kept.answer.then(end, end)
    return kept
  }
  return {
    async answer(asked) {
      const { scope, key, content } = asked
      if (!keyForm.test(key))
        throw new AppError(
          'wrongUsage',
          'The Idempotency-Key is empty, too long, or has other characters than ASCII.',
          { hint: 'Take 1 to 128 printable characters without spaces, such as a UUID.' },
        )
      forgetOld()
      const name = `${scope} ${key}`
      const found = underWay.get(name) ?? ended.get(name)
      if (found && found.content !== content)
        throw new AppError('wrongUsage', 'This key was used for another request.', {
          hint: 'Take a new Idempotency-Key, or over WebSocket a new id, for each new request.',
        })
      return wait(found ?? begin(name, asked), asked)
    },
  }
}

/** Waits with the others for the answer. When all of them have left, and none comes back, the work is cancelled. */
async function wait<T>(kept: Kept<T>, { leaves, cancels }: Asked<T>): Promise<T> {
  const leave = () => {
    kept.waiting -= 1
    if (kept.waiting > 0) return
    const left = () => kept.cancel.abort(new AppError('cancelled', 'The client left before the answer.'))
    kept.leaving = setTimeout(left, graceMs)
  }
  const cancel = () => kept.cancel.abort(cancels?.reason)
  kept.waiting += 1
  clearTimeout(kept.leaving)
  listen(leaves, leave)
  listen(cancels, cancel)
  try {
    return await kept.answer
  } finally {
    leaves?.removeEventListener('abort', leave)
    cancels?.removeEventListener('abort', cancel)
    clearTimeout(kept.leaving)
  }
}

function listen(signal: AbortSignal | undefined, heard: () => void): void {
  if (signal?.aborted) heard()
  else signal?.addEventListener('abort', heard, { once: true })
}
