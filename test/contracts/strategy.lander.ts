/** Accepts T1 and dies at an event, as a power cut would have it: `node strategy.lander.ts <repo> <strategy> <event>`. */
import { compose } from '../../src/compose/full.ts'
import { acceptBy } from '../../src/core/verbs/accept.ts'
import type { Store } from '../../src/core/ports/store.ts'
import { allStrategies } from './strategy.list.ts'

const [dir, as, dies] = process.argv.slice(2) as [string, string, string]

const store = (real: Store): Store => ({
  ...real,
  async append(change) {
    const appended = await real.append(change)
    if (change.entries.some(({ type }) => type === dies)) process.kill(process.pid, 'SIGKILL')
    return appended
  },
})
const ports = compose({ around: { store }, background: false })
await acceptBy(allStrategies, ports, { dir, task: 'T1', as })
