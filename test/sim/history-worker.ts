/** Plays what it is asked to, one history after the other: `node history-worker.ts <folder> <program>`. */
import path from 'node:path'
import type { Build } from '../support/builds.ts'
import { makeTemplate } from './sim-fixture.ts'
import type { Order } from './history-actions.ts'
import { play } from './run-history.ts'
import { Spares } from './executor.ts'

export interface Wanted {
  readonly name: string
  readonly history: readonly Order[]
  readonly build: Build
}

const [root, program] = process.argv.slice(2) as [string, string]
const template = makeTemplate(root)
const spares = new Spares(program)
let played = 0

async function answer({ name, history, build }: Wanted): Promise<void> {
  const home = path.join(root, String(played++))
  const { log, anomalies, tally } = await play(history, { template, home, spares, build }).catch(
    (error: Error) => ({ log: [], anomalies: [`it broke off: ${error.stack}`], tally: undefined }),
  )
  process.send?.({ name, log, anomalies, tally })
}

process.on('message', (wanted: Wanted) => void answer(wanted))
process.on('disconnect', () => void spares.end().then(() => process.exit()))
