/** Remembers the answers to requests that write, so that a retry gets the first answer instead of doing it again. */
import { AppError } from '../core/model/errors.ts'

/** From the end of the work on: an agent may take longer than this. */
const keptMs = 10 * 60_000
const most = 1000

/** A key as a client may choose it. */
const keyForm = /^[\x21-\x7e]{1,128}$/

interface Asked<T> {
  /** Who asks for what: the key of one client says nothing about that of another. */
  readonly scope: string
  readonly key: string
  /** The request itself; the same key with another request is a mistake. */
  readonly content: string
  readonly work: () => Promise<T>
}

interface Kept<T> {
  readonly content: string
  readonly answer: Promise<T>
}

export interface Once<T> {
  /** The answer of `work`, or of an earlier call with the same key. Throws `wrongUsage` for a key that was used for another request. */
  answer(asked: Asked<T>): Promise<T>
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
  return {
    async answer({ scope, key, content, work }) {
      if (!keyForm.test(key))
        throw new AppError(
          'wrongUsage',
          'The Idempotency-Key is empty, too long, or has other characters than ASCII.',
        )
      forgetOld()
      const name = `${scope} ${key}`
      const found = underWay.get(name) ?? ended.get(name)
      if (found && found.content !== content)
        throw new AppError('wrongUsage', 'This Idempotency-Key was used for another request.', {
          hint: 'Use a new key for a new request.',
        })
      if (found) return found.answer
      const kept = { content, answer: work() }
      underWay.set(name, kept)
      const end = () => {
        underWay.delete(name)
        ended.set(name, { ...kept, until: now() + keptMs })
      }
      kept.answer.then(end, end)
      return kept.answer
    },
  }
}
