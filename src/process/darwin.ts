/** The process table of macOS, as `ps` prints it. */
import { readOutput } from './spawn.ts'
import type { ProcessEntry, ProcessTable } from './table.ts'

const read = (program: string, args: string[]) => readOutput(program, args, { LC_ALL: 'C', TZ: 'UTC' })

const columns = ['-o', 'pid=,pgid=,stat=,lstart=']

/** macOS has no /proc: each lookup costs a `ps`, and start times are whole seconds. */
export const darwinTable: ProcessTable = {
  // Not kern.boottime, which changes with each correction of the clock.
  boot: () => read('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']).trim(),
  find: (pid) => readEntries(['-p', String(pid)])[0],
  inGroup: (group) => readEntries(['-A']).filter((entry) => entry.group === group),
}

/** `ps` fails when it finds no process. */
function readEntries(which: string[]): ProcessEntry[] {
  try {
    return read('/bin/ps', [...which, ...columns])
      .split('\n')
      .filter(Boolean)
      .map(psEntry)
  } catch {
    return []
  }
}

export function psEntry(line: string): ProcessEntry {
  const [pid, group, state, ...start] = line.trim().split(/\s+/)
  return {
    pid: Number(pid),
    group: Number(group),
    session: Number(group),
    startedAt: String(Date.parse(`${start.join(' ')} UTC`)),
    ended: state?.startsWith('Z') === true,
  }
}
