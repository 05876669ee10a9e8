/** Appends so many events to each named task, and prints the number of each once the store has acknowledged it. */
import { writeSync } from 'node:fs'
import type { Stores } from '../../src/core/ports/store.ts'
import { append } from '../../src/core/tasks/records.ts'

const [module, factory, path, count, ...uids] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  ...string[],
]
const { store, close } = ((await import(module)) as Record<string, (path: string) => Stores>)[factory]!(path)
const writer = { store, processes: { self: () => ({ pid: process.pid, startedAt: '', boot: '' }) } }

for (let round = 0; round < Number(count); round++) {
  for (const uid of uids) {
    for (;;) {
      // Asking for the exact version makes each acknowledged number this writer's own.
      const seen = (await store.readEvents({ uid })).length
      try {
        await append(writer, uid, { type: 'recreate.done' }, new Date().toISOString(), seen)
        writeSync(1, `${uid} ${seen + 1}\n`)
        break
      } catch (thrown) {
        if ((thrown as { code?: string }).code !== 'WT_012') throw thrown
      }
    }
  }
}
await close()
