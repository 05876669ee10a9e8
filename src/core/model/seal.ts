/** The log of events as a hash chain, and the search for changed or missing entries (docs/adr/0020-the-log-is-sealed.md). */
import { createHash } from 'node:crypto'

/** An event as it lies in the log, with its seal. */
export interface LoggedEvent {
  readonly seq: number
  readonly uid: string
  readonly n: number
  readonly at: string
  readonly type: string
  /** The event's own text, byte for byte. */
  readonly text: string
  readonly seal: string
}

/** Stands for the seal before the first entry. */
export const firstSeal = ''

/** The seal of an entry that follows the one with the seal `before`. */
export function sealOf(
  before: string,
  { uid, n, at, type, text }: Omit<LoggedEvent, 'seq' | 'seal'>,
): string {
  return createHash('sha256')
    .update(JSON.stringify([before, uid, n, at, type, text]))
    .digest('hex')
}

export interface Flaw {
  /** The number of the entry at which the flaw was found. */
  readonly seq: number
  readonly what: string
}

/** The number of the last entry that was ever written, and how many entries each task has by its own record. */
interface LogEnd {
  readonly seq: number
  readonly versions: ReadonlyMap<string, number>
}

/**
 * Every place where the log is not as it was written. A changed entry, or one whose predecessor was changed, removed or
 * moved, does not match its seal. Entries cut off at the end are found by comparing `seq` and the counts of the records.
 * Entries that were appended after the position was read are not checked.
 */
export async function flawsOf(
  log: Iterable<LoggedEvent> | AsyncIterable<LoggedEvent>,
  { seq, versions }: LogEnd,
): Promise<{ flaws: Flaw[]; head: string }> {
  const flaws: Flaw[] = []
  const found = new Map<string, number>()
  let [before, last] = [firstSeal, 0]
  for await (const entry of log) {
    if (entry.seq > seq) break
    if (entry.seq !== last + 1) flaws.push({ seq: entry.seq, what: missing(last + 1, entry.seq - 1) })
    if (sealOf(before, entry) !== entry.seal)
      flaws.push({ seq: entry.seq, what: 'it, or what comes before it, is not what was written' })
    found.set(entry.uid, (found.get(entry.uid) ?? 0) + 1)
    ;[before, last] = [entry.seal, entry.seq]
  }
  if (last < seq) flaws.push({ seq, what: missing(last + 1, seq) })
  for (const [uid, count] of versions) {
    const there = found.get(uid) ?? 0
    if (there !== count)
      flaws.push({ seq: last, what: `the task ${uid} has ${there} entries, and its record says ${count}` })
  }
  return { flaws, head: before }
}

function missing(from: number, to: number): string {
  return from >= to ? `the entry ${to} is missing` : `the entries ${from} to ${to} are missing`
}
