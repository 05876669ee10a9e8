/** Times two ways of doing one thing in turns, so that other load on the machine falls on both alike. */

export interface Side {
  /** Not counted. */
  before?(): Promise<unknown>
  run(): Promise<unknown>
  /** Not counted. Leaves everything as it was before the round. */
  after?(): Promise<unknown>
}

interface Sample {
  readonly median: number
  readonly p20: number
  /** Milliseconds, in the order in which they were taken. */
  readonly times: readonly number[]
}

export interface Comparison {
  readonly ours: Sample
  readonly raw: Sample
  /** Ours divided by raw, of the medians. */
  readonly ratio: number
  /** The same of the 20th percentiles, which a busy machine moves less. */
  readonly ratioP20: number
}

const warmUps = 2
const budgetMs = 20_000
const fewest = 9
const most = 61

/** Takes turns for `wanted` rounds; by default for as many as fit `budgetMs`. */
export async function compare(ours: Side, raw: Side, wanted?: number): Promise<Comparison> {
  const turn = async (side: Side) => {
    await side.before?.()
    const begun = performance.now()
    await side.run()
    const time = performance.now() - begun
    await side.after?.()
    return time
  }
  let costMs = 0
  for (let n = 0; n < warmUps; n++) {
    const begun = performance.now()
    await turn(raw)
    await turn(ours)
    costMs = performance.now() - begun
  }
  const rounds = wanted ?? Math.min(most, Math.max(fewest, Math.round(budgetMs / costMs)))
  const times = { ours: [] as number[], raw: [] as number[] }
  for (let n = 0; n < rounds; n++) {
    if (n % 2 === 0) times.ours.push(await turn(ours))
    times.raw.push(await turn(raw))
    if (n % 2 === 1) times.ours.push(await turn(ours))
  }
  const sampled = { ours: sample(times.ours), raw: sample(times.raw) }
  return {
    ...sampled,
    ratio: sampled.ours.median / sampled.raw.median,
    ratioP20: sampled.ours.p20 / sampled.raw.p20,
  }
}

function sample(times: readonly number[]): Sample {
  return { median: quantile(times, 0.5), p20: quantile(times, 0.2), times }
}

/** Interpolates between two values. */
function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}
