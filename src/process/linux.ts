/** The process table of Linux, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessEntry, ProcessTable } from './table.ts'

export const linuxTable: ProcessTable = {
  boot: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  find(pid) {
    try {
      return processEntry(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    } catch {
      return undefined
    }
  },
  inGroup(group) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => linuxTable.find(Number(name)))
      .filter((entry) => entry?.group === group)
      .filter((entry) => entry !== undefined)
  },
}

/**
 * Parses /proc/PID/stat. The command in brackets may itself contain brackets and spaces, so the last bracket counts.
 */
export function processEntry(stat: string): ProcessEntry {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, , group, session] = fields
  const threads = Number(fields[17])
  return {
    pid: Number.parseInt(stat, 10),
    group: Number(group),
    session: Number(session),
    startedAt: fields[19] ?? '',
    // The main thread of a process shows as a zombie while its other threads still run.
    ended: (state === 'Z' || state === 'X') && threads <= 1,
  }
}
