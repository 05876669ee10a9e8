/** Takes orders away for as long as what is left still goes wrong. */
import type { Build } from '../support/builds.ts'
import type { Order } from './history-actions.ts'
import type { Team } from './worker-pool.ts'

export async function shorter(team: Team, whole: readonly Order[], build: Build): Promise<readonly Order[]> {
  let history = whole
  for (let n = history.length - 1; n >= 0; n--) {
    const less = history.filter((_, index) => index !== n)
    if (await fails(team, less, build)) history = less
  }
  return history
}

async function fails(team: Team, history: readonly Order[], build: Build): Promise<boolean> {
  let failed = false
  await team.play([{ name: 'shorter', history, build }], ({ anomalies }) => (failed = anomalies.length > 0))
  return failed
}
