/** Properties, checked many times. */
import { endOnFailure, fc, repetitions, seed } from '../random.ts'

/** A property checked in several lanes at once, each with a world of its own: most of the time is spent waiting. */
export async function inLanes<W>(
  count: number,
  makeWorld: () => Promise<W>,
  propertyIn: (world: W) => fc.IAsyncPropertyWithHooks<unknown>,
): Promise<void> {
  const lanes = 4
  const numRuns = Math.ceil((count * repetitions) / lanes)
  const worlds = await Promise.all(Array.from({ length: lanes }, makeWorld))
  await Promise.all(
    worlds.map((world, lane) =>
      fc.assert(propertyIn(world), {
        seed: seed + lane,
        numRuns,
        endOnFailure,
      }),
    ),
  )
}
