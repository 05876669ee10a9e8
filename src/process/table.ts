import { darwinTable } from './darwin.ts'
import { linuxTable } from './linux.ts'

export interface ProcessEntry {
  readonly pid: number
  readonly group: number
  /** The group's own number where the system does not tell. */
  readonly session: number
  /** A number that grows with time; with the boot and the pid it names a process for good. */
  readonly startedAt: string
  /** It has ended and only waits to be reaped: it runs no code any more. */
  readonly ended: boolean
}

/** What the operating system tells about its processes. */
export interface ProcessTable {
  /** Another value after each start of the machine. */
  boot(): string
  find(pid: number): ProcessEntry | undefined
  inGroup(group: number): ProcessEntry[]
}

export function processTable(): ProcessTable {
  return process.platform === 'linux' ? linuxTable : darwinTable
}
