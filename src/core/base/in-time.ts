/** Gives up on work that takes too long. */

/** The answer of the work; undefined when it took longer than `longestMs`, which aborts its signal. */
export async function inTime<T>(
  longestMs: number,
  signal: AbortSignal | undefined,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const late = AbortSignal.timeout(longestMs)
  try {
    return await work(signal ? AbortSignal.any([signal, late]) : late)
  } catch (error) {
    if (late.aborted && !signal?.aborted) return undefined
    throw error
  }
}
