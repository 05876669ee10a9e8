/** Properties, checked many times. `SEED=…` replays a run, `SHRINK=1` looks for the smallest case that fails. */
import fc from 'fast-check'

export const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000)
export const runs = Number(process.env.RUNS ?? 1)

/** A property checked in several lanes at once, each with a world of its own: most of the time is spent waiting. */
export async function inLanes<W>(
  count: number,
  makeWorld: () => Promise<W>,
  propertyIn: (world: W) => fc.IAsyncPropertyWithHooks<unknown>,
): Promise<void> {
  const lanes = 4
  const numRuns = Math.ceil((count * runs) / lanes)
  const worlds = await Promise.all(Array.from({ length: lanes }, makeWorld))
  await Promise.all(
    worlds.map((world, lane) =>
      fc.assert(propertyIn(world), {
        seed: seed + lane,
        numRuns,
        endOnFailure: process.env.SHRINK === undefined,
      }),
    ),
  )
}
