/** A program that appends so many events of a size, in batches, to each named task of a state folder, as another offshoot would. */
import { sqliteStores } from '../../src/store/sqlite.ts'
import { appendAll } from '../../src/core/tasks/records.ts'

const [path = '', count, batch, bytes, ...uids] = process.argv.slice(2)
const { store, close } = sqliteStores(path)
const writer = { store, processes: { self: () => ({ pid: process.pid, startedAt: '', boot: '' }) } }
const event = { type: 'mended', what: 'x '.repeat(Number(bytes) / 2) } as const
const size = Math.min(Number(batch), Number(count))
for (let done = 0; done < Number(count); done += size) {
  const events = Array.from({ length: size }, () => uids.map((uid) => ({ uid, event }))).flat()
  await appendAll(writer, events, new Date().toISOString())
}
await close()
