/**
 * Puts big files through every verb that reads or writes them, in a process of its own whose memory is measured: its own
 * peak, and that of the biggest git it started.
 */
import { createHash, randomFillSync } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import type * as Library from '../../src/index.ts'

/** As users get it: what is measured is its memory, not that of loading its source. */
const built = path.resolve(import.meta.dirname, '../../dist/index.js')
const { openRepo } = (await import(built)) as typeof Library

/** A folder of the repository, the megabytes of each file, and how many there are. */
const [repo = '', size = '150', count = '1'] = process.argv.slice(2)
const peaks: Record<string, number> = {}
let biggestGit = 0
let command = ''

const peak = (pid: number | string) => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** A child's peak is gone with it: it is looked at all the time. */
const watch = setInterval(() => {
  for (const pid of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')) {
    const used = peak(pid)
    if (used <= biggestGit) continue
    biggestGit = used
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, 3).join(' ')
    } catch {
      // It has ended.
    }
  }
}, 5)

// One buffer for all: what is measured is the library's memory, not ours.
const chunk = Buffer.alloc(1024 * 1024)

function writeBig(first: string): void {
  for (const name of names) {
    const handle = openSync(path.join(task.path, name), 'w')
    writeSync(handle, first)
    for (let n = 0; n < Number(size); n++) writeSync(handle, randomFillSync(chunk))
    closeSync(handle)
  }
}

function digest(folder = task.path): string {
  const hash = createHash('sha256')
  for (const name of names) {
    const handle = openSync(path.join(folder, name), 'r')
    for (let read = 1; read > 0; ) {
      read = readSync(handle, chunk)
      hash.update(chunk.subarray(0, read))
    }
    closeSync(handle)
  }
  return hash.digest('hex')
}

const lib = openRepo(repo)
const note = async <T>(name: string, work: Promise<T>): Promise<T> => {
  const done = await work
  peaks[name] = Math.round(peak('self'))
  return done
}
const { task } = await note('start', lib.start({ task: 'T1' }))
const names = Array.from({ length: Number(count) }, (_, n) => `big-${n}.bin`)
writeBig('one')
const first = digest()
await note('checkpoint', lib.checkpoint({ task: 'T1' }))
writeBig('two')
const second = digest()
await note('checkpoint of a change', lib.checkpoint({ task: 'T1', files: names }))
await note('stat', lib.diff({ task: 'T1', format: 'stat' }))
await note('log', lib.log('T1'))
await note('rewind', lib.rewind({ task: 'T1', to: 1 }))
const rewound = digest()
await note('rewind forth', lib.rewind({ task: 'T1', to: 2 }))
const forth = digest()
rmSync(task.path, { recursive: true })
await note('recreation', lib.start({ task: 'T1' }))
const recreated = digest()
await note('accept as a patch', lib.accept({ task: 'T1', keep: true }))
const patched = digest(repo)
await note('undo', lib.undo())
await note('accept as a squash', lib.accept({ task: 'T1', as: 'squash' }))
const squashed = digest(repo)
await note('close', lib.close())
clearInterval(watch)
console.log(
  JSON.stringify({
    same: [rewound === first, ...[forth, recreated, patched, squashed].map((after) => after === second)],
    peaks,
    own: Math.round(peak('self')),
    git: Math.round(biggestGit),
    command,
  }),
)
