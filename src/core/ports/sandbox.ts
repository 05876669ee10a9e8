/** Where the processes of agents and hooks run; implemented by src/sandbox (docs/adr/0028-one-cell-one-spawn.md). */
import type { CommandCall } from '../model/command.ts'
import type { SandboxKind } from '../model/enums.ts'

/** Opens cells. */
export interface Sandboxes {
  /** Opens a cell for one run or one hook. The caller closes it. */
  open(kind: SandboxKind, task: CellTask): Promise<Cell>
}

/** The folder and the environment that a cell is opened with. */
export interface CellTask {
  /** The folder on this machine in which commands start. */
  readonly workspace: string
  /** In the environment of each command; a call cannot change these. */
  readonly env: Readonly<Record<string, string>>
  /** The path of the folder that `makeRunFolder` makes; left out, it is a temporary one. */
  readonly runFolder?: string | undefined
}

/**
 * The place in which an agent runs. Paths that a method answers are paths on this machine; `inside` translates one for a
 * process in the cell. Example: in a container that has `/state/run-folders/r1` at `/run/offshoot`,
 * `inside('/state/run-folders/r1/plugin.js')` is `/run/offshoot/plugin.js`; without a sandbox it is the same path.
 */
export interface Cell {
  /** The folder in which commands start, as they see it. */
  readonly workspace: string
  /** The user's home folder on this machine. */
  readonly home: string
  /** The Node executable, as a process in the cell finds it. */
  readonly node: string
  /** How a process in the cell calls a file below the workspace, the run folder, a socket folder or the user's home. */
  inside(file: string): string
  /** Makes a folder for files that the agent has to read. It is removed when the cell is closed. */
  makeRunFolder(): Promise<string>
  /** Makes a folder with a path short enough for a socket (about 100 characters). It is removed when the cell is closed. */
  makeSocketFolder(): Promise<string>
  /**
   * Runs a program in the workspace to its end and answers its exit code. Throws `programMissing` when there is no such program, and
   * `cancelled` when it is cancelled, which ends all that it started.
   */
  run(call: CellCall, signal?: AbortSignal): Promise<number>
  /** Ends every program that still runs in the cell, with all that they started, and waits for it. */
  end(): Promise<void>
  /** Ends what still runs and removes the folders that the cell made. A closed cell runs nothing; closing twice is fine. */
  close(): Promise<void>
}

/** A program, and what is added to its environment. */
type CellCall = Pick<CommandCall, 'argv' | 'onOutput' | 'onStart'> & {
  readonly env?: CommandCall['env'] | undefined
}
