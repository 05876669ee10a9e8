/** The shape of one kind of sandbox. */
import type { Cell, CellTask } from '../core/ports/sandbox.ts'
import type { SandboxKind } from '../core/model/enums.ts'
import type { Commands } from '../core/ports/commands.ts'
import type { FileSystem } from '../core/ports/files.ts'

/** The parts of this machine that a cell is made of. */
export interface Machine {
  readonly commands: Commands
  readonly files: FileSystem
  /** The user's home folder. */
  readonly home: string
  /** The folder for temporary files. */
  readonly temp: string
}

export interface Sandbox {
  readonly kind: SandboxKind
  open(machine: Machine, task: CellTask): Promise<Cell>
}
