/** Takes a lock and holds it until killed, tries it once, or adds to a counter file under it again and again. */
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Locks } from '../../src/core/ports/locks.ts'
import type { Owner } from '../../src/core/model/task.ts'

type Open = (folder: string, self: () => Owner, clock: Clock) => Locks

const [module, factory, folder, name, verb, what, counter, count] = process.argv.slice(2) as string[]
const open = ((await import(module!)) as Record<string, Open>)[factory!]!
const locks = open(folder!, () => ({ pid: process.pid, startedAt: '', boot: '' }), { now: () => new Date() })

if (what === 'hold') {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  setInterval(() => {}, 1000)
  void locks.hold(name!, { verb: verb! }, () => {
    // From outside the work, once nothing refers to it any more.
    setImmediate(() => {
      collectGarbage()
      setImmediate(() => writeSync(1, 'held\n'))
    })
    return new Promise(() => {})
  })
} else if (what === 'try') {
  await locks
    .hold(name!, { verb: verb!, waitMs: 0 }, async () => writeSync(1, 'held\n'))
    .catch((thrown: unknown) => {
      writeSync(1, `${(thrown as { code: string }).code}\n`)
    })
} else {
  for (let n = 0; n < Number(count); n++) {
    await locks.hold(name!, { verb: verb! }, async () => {
      const before = Number(readFileSync(counter!, 'utf8'))
      await new Promise(setImmediate)
      writeFileSync(counter!, String(before + 1))
    })
  }
}
