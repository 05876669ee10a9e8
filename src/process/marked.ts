/** The processes of a run: those with its mark in their environment or in its control group, and all of their descendants. */
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { runOfGroup } from './control-group.ts'
import { mark, readProc } from './own-run.ts'
import { readOutput } from './spawn.ts'

interface Seen {
  readonly pid: number
  readonly parent: number
  readonly marked: boolean
}

export function findMarked(run: string): number[] {
  const all = process.platform === 'linux' ? readLinux(run) : readDarwin(mark(run))
  const ours = new Set(all.filter((one) => one.marked).map(({ pid }) => pid))
  for (let before = -1; before !== ours.size; ) {
    before = ours.size
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid)
  }
  ours.delete(process.pid)
  return [...ours]
}

const roundMs = 10
const rounds = 200

/** Ends them in rounds: a process that starts during one round is found in the next. Returns the number at first. */
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
    // The process has ended, or is not ours.
  }
}

function readLinux(run: string): Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readProc(name, 'stat')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (parent === undefined || state === 'Z' || state === 'X') return []
      const isGrouped = runOfGroup(readProc(name, 'cgroup')) === run
      const marked = isGrouped || readProc(name, 'environ').split('\0').includes(mark(run))
      return [{ pid: Number(name), parent: Number(parent), marked }]
    })
}

function readDarwin(wanted: string): Seen[] {
  const text = readOutput('/bin/ps', ['-Axww', '-E', '-o', 'pid=,ppid=,stat=,command='])
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, state, rest = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), marked: ` ${rest} `.includes(` ${wanted} `) }]
  })
}
