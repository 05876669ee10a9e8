/** Gives an answer up of which a forecast would only be a part. */
import { inTime } from '../base/in-time.ts'

/** Somebody waits for an answer that the forecast is only a part of. */
const longestMs = 1_500

/** What the forecast says, if it says it soon; a forecast that fails does not keep its verb from answering. */
export async function ifSoon<T>(
  signal: AbortSignal | undefined,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await inTime(longestMs, signal, work)
  } catch (thrown) {
    if (signal?.aborted) throw thrown
    return undefined
  }
}
