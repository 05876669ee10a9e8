/** The processes of a run: those that carry its mark in their environment, and all that descend from them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A child that has left its group and its session still has the environment that it was started with. */
const mark = (run: string) => `OFFSHOOT_RUN=${run}`

interface Seen {
  readonly pid: number
  readonly parent: number
  readonly marked: boolean
}

export function findMarked(run: string): number[] {
  const all = process.platform === 'linux' ? linux(mark(run)) : darwin(mark(run))
  const ours = new Set(all.filter((one) => one.marked).map(({ pid }) => pid))
  for (let before = -1; before !== ours.size; ) {
    before = ours.size
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid)
  }
  ours.delete(process.pid)
  return [...ours]
}

/** The mark that we carry ourselves, or a process above us. An agent can clear its own environment, not its parents'. */
export function findOwnRun(env: NodeJS.ProcessEnv): string | undefined {
  if (env.OFFSHOOT_RUN || process.platform !== 'linux') return env.OFFSHOOT_RUN || undefined
  for (let pid = String(process.ppid); Number(pid) > 1; ) {
    const marked = readProc(pid, 'environ')
      .split('\0')
      .find((variable) => variable.startsWith(mark('')))
    if (marked !== undefined) return marked.slice(mark('').length)
    const stat = readProc(pid, 'stat')
    pid = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0'
  }
  return undefined
}

const roundMs = 10
const rounds = 200

/** Whoever starts another one while we look is found in the next round. Answers how many there were at first. */
export async function endMarked(run: string): Promise<number> {
  const first = findMarked(run)
  let left = first
  for (let round = 0; left.length > 0 && round < rounds; round++) {
    for (const pid of left) kill(pid)
    await pause(roundMs)
    left = findMarked(run)
  }
  return first.length
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone, or not ours to end.
  }
}

function linux(wanted: string): Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readProc(name, 'stat')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (parent === undefined || state === 'Z' || state === 'X') return []
      const marked = readProc(name, 'environ').split('\0').includes(wanted)
      return [{ pid: Number(name), parent: Number(parent), marked }]
    })
}

/** Empty when it has ended, or when it is somebody else's. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

function darwin(wanted: string): Seen[] {
  const text = execFileSync('/bin/ps', ['-Axww', '-E', '-o', 'pid=,ppid=,stat=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, state, rest = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), marked: ` ${rest} `.includes(` ${wanted} `) }]
  })
}
