/** Runs the histories that it is handed, one after the other: `node history-worker.ts <folder> <program>`. */
import path from 'node:path'
import type { Build } from '../support/builds.ts'
import { makeTemplate } from './sim-fixture.ts'
import type { HistoryAction } from './history-actions.ts'
import { runHistory } from './run-history.ts'
import { SpareProcesses } from './executor.ts'

export interface Wanted {
  readonly name: string
  readonly history: readonly HistoryAction[]
  readonly build: Build
}

const [root, program] = process.argv.slice(2) as [string, string]
const template = makeTemplate(root)
const spares = new SpareProcesses(program)
let count = 0

async function answer({ name, history, build }: Wanted): Promise<void> {
  const home = path.join(root, String(count++))
  const { log, anomalies, tally } = await runHistory(history, { template, home, spares, build }).catch(
    (error: Error) => ({ log: [], anomalies: [`it broke off: ${error.stack}`], tally: undefined }),
  )
  process.send?.({ name, log, anomalies, tally })
}

process.on('message', (wanted: Wanted) => void answer(wanted))
process.on('disconnect', () => void spares.end().then(() => process.exit()))
