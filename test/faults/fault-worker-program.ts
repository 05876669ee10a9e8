/** The program of a worker: `node fault-worker-program.ts <options> <name> <shimmed>`; requests come as messages. */
import type { Request, Reply, Work } from './fault-worker.ts'
import { deeds } from './deeds.ts'
import type { IsNew } from './invariants.ts'
import { type Journey, journeys } from './journeys.ts'
import { type RunnerOptions, JourneyRunner } from './journey-runner.ts'
import {
  completes,
  pointsOf,
  injectFault,
  injectAroundGit,
  injectInsideGit,
  injectIntoRecovery,
  injectOnce,
  type Tally,
} from './inject.ts'
import { meetInRecovery, meetSecondWriter } from './second-writer.ts'

const [runnerOptions, name, shimmed] = process.argv.slice(2) as [string, string, string]
const runner = new JourneyRunner(JSON.parse(runnerOptions) as RunnerOptions, name, shimmed === 'true')
const say = (reply: Reply) => process.send?.(reply)
let answered: ((isNew: boolean) => void) | undefined

const isNew: IsNew = (state) => {
  say({ state })
  return new Promise((resolve) => (answered = resolve))
}

function tally(journey: Journey, work: Work): Promise<Tally> {
  switch (work.what) {
    case 'inject':
      return injectFault(runner, journey, work.plan, work.alone, work.recovers && isNew, work.build)
    case 'complete':
      return completes(runner, journey, work.plan, work.alone, isNew)
    case 'inside':
      return injectInsideGit(runner, journey, work.plan, isNew)
    case 'around':
      return injectAroundGit(runner, journey, work.plan, work.death, isNew)
    case 'recovery':
      return injectIntoRecovery(runner, journey, work.at, isNew)
    case 'once':
      return injectOnce(runner, journey, work.plan, isNew)
    case 'meet':
      return meetSecondWriter(runner, journey, work.plan, deedCalled(work.deed))
    case 'meet in recovery':
      return meetInRecovery(runner, journey, work.at, deedCalled(work.deed))
  }
}

const deedCalled = (wanted: string) => deeds.find((deed) => deed.name === wanted)!

async function carryOut({ journey: wanted, work }: Extract<Request, { journey: string }>): Promise<Reply> {
  const journey = journeys.find((row) => row.name === wanted)!
  if (work.what === 'points') return { points: await pointsOf(runner, journey) }
  return { tally: await tally(journey, work) }
}

process.on('message', (request: Request) => {
  if ('isNew' in request) return answered?.(request.isNew)
  void carryOut(request)
    .catch((error: Error): Reply => ({ failed: error.stack ?? error.message }))
    .then(say)
})
process.on('disconnect', () => process.exit())
