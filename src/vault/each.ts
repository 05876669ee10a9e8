/** Does the work for every item, some at a time; the first failure ends it. */
export async function eachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
