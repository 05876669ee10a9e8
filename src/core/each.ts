/** Does the work for every item, some at a time. After a failure nothing new is begun, and nothing is still going on. */
export async function eachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let failed = false
  const worker = async () => {
    for (let next = queue.next(); !next.done && !failed; next = queue.next()) {
      await work(next.value).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}
