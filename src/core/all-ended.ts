/**
 * What all of them answer, or the first failure; but not before each has ended. A verb that answers while a child of its
 * own still runs could be followed by one that changes what the child reads.
 */
export async function allEnded<const T extends readonly Promise<unknown>[]>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
