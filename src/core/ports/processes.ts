import type { LeftBehind } from '../model/git.ts'
import type { Owner } from '../model/task.ts'

export interface Processes {
  self(): Owner
  /** Those who died while a child of theirs ran. */
  readDeadOwners(): Owner[]
  /**
   * Ends the processes that a dead owner left running, and answers how many there were. `clear` then takes away what
   * they left, and is told which of them changed refs; should it fail, the owner stays on record.
   */
  endChildren(owner: Owner, clear?: (left: readonly LeftBehind[]) => Promise<void>): Promise<number>
  /** The run that we are a part of: a process above us carries its mark. */
  findRun(): string | undefined
  /** Ends all that a run has started, wherever it went, and answers how many there were. */
  endRun(run: string): Promise<number>
}

export interface Sockets {
  /** Of these ports of the machine, the ones that somebody listens on. */
  readBusy(ports: readonly number[]): Promise<ReadonlySet<number>>
}
