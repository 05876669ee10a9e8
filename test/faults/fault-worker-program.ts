/** The program of a hand: `node fault-worker-program.ts <grounds> <lane> <shimmed>`, and orders as messages. */
import type { Order, Reply, Work } from './fault-worker.ts'
import type { IsNew } from './invariants.ts'
import { type Journey, journeys } from './journeys.ts'
import { type Grounds, Lane } from './journey-runner.ts'
import {
  completes,
  pointsOf,
  strike,
  strikeAround,
  strikeInside,
  strikeRecovery,
  type Tally,
} from './inject.ts'

const [grounds, name, shimmed] = process.argv.slice(2) as [string, string, string]
const lane = new Lane(JSON.parse(grounds) as Grounds, name, shimmed === 'true')
const say = (reply: Reply) => process.send?.(reply)
let answered: ((isNew: boolean) => void) | undefined

const isNew: IsNew = (world) => {
  say({ world })
  return new Promise((resolve) => (answered = resolve))
}

function tally(journey: Journey, work: Work): Promise<Tally> {
  switch (work.what) {
    case 'strike':
      return strike(lane, journey, work.plan, work.alone, work.recovers && isNew, work.build)
    case 'complete':
      return completes(lane, journey, work.plan, work.alone, isNew)
    case 'inside':
      return strikeInside(lane, journey, work.plan, isNew)
    case 'around':
      return strikeAround(lane, journey, work.plan, work.death, isNew)
    case 'recovery':
      return strikeRecovery(lane, journey, work.at, isNew)
  }
}

async function carryOut({ journey: wanted, work }: Extract<Order, { journey: string }>): Promise<Reply> {
  const journey = journeys.find((row) => row.name === wanted)!
  if (work.what === 'points') return { points: await pointsOf(lane, journey) }
  return { tally: await tally(journey, work) }
}

process.on('message', (order: Order) => {
  if ('isNew' in order) return answered?.(order.isNew)
  void carryOut(order)
    .catch((error: Error): Reply => ({ failed: error.stack ?? error.message }))
    .then(say)
})
process.on('disconnect', () => process.exit())
