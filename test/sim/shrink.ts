/** Takes actions away for as long as what is left still goes wrong. */
import type { Build } from '../support/builds.ts'
import type { HistoryAction } from './history-actions.ts'
import type { WorkerPool } from './worker-pool.ts'

export async function shrink(
  pool: WorkerPool,
  whole: readonly HistoryAction[],
  build: Build,
): Promise<readonly HistoryAction[]> {
  let history = whole
  for (let n = history.length - 1; n >= 0; n--) {
    const less = history.filter((_, index) => index !== n)
    if (await fails(pool, less, build)) history = less
  }
  return history
}

async function fails(pool: WorkerPool, history: readonly HistoryAction[], build: Build): Promise<boolean> {
  let failed = false
  await pool.run([{ name: 'shrink', history, build }], ({ anomalies }) => (failed = anomalies.length > 0))
  return failed
}
