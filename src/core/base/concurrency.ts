/** Runs several pieces of asynchronous work at once, and leaves none running after a failure. */

export interface EachOptions {
  /** Once it is aborted, no other item is begun. */
  readonly signal?: AbortSignal | undefined
  /** Is called after each item. */
  readonly onEach?: (() => void) | undefined
}

/** How long work without a pause may keep a signal, such as Ctrl-C, waiting. */
const longestBreathMs = 25

/**
 * Runs `work` for every item, `atOnce` at a time. When one fails, no other is begun, and those that run are awaited. Most of
 * our work on files is done at once, so the process would hear nothing until the last of them: it pauses now and then.
 */
export async function eachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
  { signal, onEach }: EachOptions = {},
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let failed = false
  let heard = performance.now()
  let pausing: Promise<void> | undefined
  const one = async (item: T) => {
    signal?.throwIfAborted()
    await work(item)
    onEach?.()
    if (performance.now() - heard < longestBreathMs) return
    // All pause together; one after the other, each would keep the rest waiting again.
    pausing ??= pause().then(() => {
      heard = performance.now()
      pausing = undefined
    })
    await pausing
  }
  const worker = async () => {
    for (let next = queue.next(); !next.done && !failed; next = queue.next()) {
      await one(next.value).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

/** Lets signals, timers and the answers of the disk through. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Like `Promise.all`, but waits for every promise to end before it fails. If a verb answered while a child process of its
 * own still ran, the next verb could change files that the child reads.
 */
export async function allEnded<const T extends readonly Promise<unknown>[]>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** Runs at most `count` works at once, in the order of the calls; one that is cancelled while it waits never starts. */
export function limiter(count: number) {
  let free = count
  const waiting: (() => void)[] = []
  return async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
