/** The operating system's table of processes. */
import { darwinTable } from './darwin.ts'
import { linuxTable } from './linux.ts'

export interface ProcessEntry {
  readonly pid: number
  readonly group: number
  /** The same as `group` where the system does not report sessions. */
  readonly session: number
  /** A number that grows with time; together with boot and pid it identifies a process for good. */
  readonly startedAt: string
  /** A zombie: it runs no code any more, and waits to be reaped. */
  readonly ended: boolean
}

/** The operating system's information about its processes. */
export interface ProcessTable {
  /** Has another value after each reboot. */
  boot(): string
  find(pid: number): ProcessEntry | undefined
  inGroup(group: number): ProcessEntry[]
}

export function processTable(): ProcessTable {
  return process.platform === 'linux' ? linuxTable : darwinTable
}
