/** Properties, checked many times and in parallel. */
import { endOnFailure, fc, repetitions, seed } from '../random.ts'

/** Checks a property in four sequences at once, each with a repository and a seed of its own: git is waited for most of the time. */
export async function inParallel<T>(
  count: number,
  make: () => Promise<T>,
  propertyIn: (one: T) => fc.IAsyncPropertyWithHooks<unknown>,
): Promise<void> {
  const sequences = 4
  const numRuns = Math.ceil((count * repetitions) / sequences)
  const made = await Promise.all(Array.from({ length: sequences }, make))
  await Promise.all(
    made.map((one, n) =>
      fc.assert(propertyIn(one), {
        seed: seed + n,
        numRuns,
        endOnFailure,
      }),
    ),
  )
}
