/**
 * Puts a big file through every verb that reads or writes it, in a process of its own whose memory is measured: its own
 * peak, and that of the biggest git it started.
 */
import { createHash, randomFillSync } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { openRepo } from '../../src/index.ts'

const [repo = '', size = '150'] = process.argv.slice(2)
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

function writeBig(file: string, first: string): void {
  const handle = openSync(file, 'w')
  writeSync(handle, first)
  for (let n = 0; n < Number(size); n++) writeSync(handle, randomFillSync(chunk))
  closeSync(handle)
}

function digest(file: string): string {
  const hash = createHash('sha256')
  const handle = openSync(file, 'r')
  for (let read = 1; read > 0; ) {
    read = readSync(handle, chunk)
    hash.update(chunk.subarray(0, read))
  }
  closeSync(handle)
  return hash.digest('hex')
}

const lib = openRepo(repo)
const note = async <T>(name: string, work: Promise<T>): Promise<T> => {
  const done = await work
  peaks[name] = Math.round(peak('self'))
  return done
}
const { task } = await note('start', lib.start({ task: 'T1' }))
const file = path.join(task.path, 'big.bin')
writeBig(file, 'one')
const first = digest(file)
await note('checkpoint', lib.checkpoint({ task: 'T1' }))
writeBig(file, 'two')
const second = digest(file)
await note('checkpoint of a change', lib.checkpoint({ task: 'T1', files: ['big.bin'] }))
await note('stat', lib.diff({ task: 'T1', format: 'stat' }))
await note('log', lib.log('T1'))
await note('rewind', lib.rewind({ task: 'T1', to: 1 }))
const rewound = digest(file)
await note('rewind forth', lib.rewind({ task: 'T1', to: 2 }))
const forth = digest(file)
rmSync(task.path, { recursive: true })
await note('recreation', lib.start({ task: 'T1' }))
const recreated = digest(file)
await note('close', lib.close())
clearInterval(watch)
console.log(
  JSON.stringify({
    same: [rewound === first, forth === second, recreated === second],
    peaks,
    own: Math.round(peak('self')),
    git: Math.round(biggestGit),
    command,
  }),
)
