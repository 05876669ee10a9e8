/** Processes and network ports of this machine; implemented by src/process. */
import type { LeftBehind } from '../model/git.ts'
import type { Owner } from '../model/task.ts'

/** Which processes of offshoot live, and which children dead ones left behind. */
export interface Processes {
  /** This process. */
  self(): Owner
  /** Processes of offshoot that died while a child of theirs ran. */
  readDeadOwners(): Owner[]
  /**
   * Kills the children that a dead owner left running, and answers how many there were. `clear` then removes their lock
   * files, and is given the gits among them that changed refs; if it fails, the owner stays on record for the next try.
   */
  endChildren(owner: Owner, clear?: (left: readonly LeftBehind[]) => Promise<void>): Promise<number>
  /** The run that this process is part of, by the mark in its environment or in that of a parent. */
  findRun(): string | undefined
  /** Kills all processes that a run has started, daemons included, and answers how many there were. */
  endRun(run: string): Promise<number>
}

/** One end of a connection over the network. */
export interface ConnectionEnd {
  readonly address: string
  readonly port: number
}

export interface Connection {
  readonly ours: ConnectionEnd
  readonly theirs: ConnectionEnd
}

/** The network ports of this machine. */
export interface Sockets {
  /** The ports among these that a program listens on. */
  readBusy(ports: readonly number[]): Promise<ReadonlySet<number>>
  /**
   * Whether the other end of a connection belongs to somebody else: to another user, or to nobody that the kernel of this
   * machine knows. False on systems that do not tell.
   */
  isOfOther(connection: Connection): Promise<boolean>
}
