/** An opened vault, and the options that it was opened with. */
import type { FileSystem } from '../core/ports/files.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { GitExec, GitPipe } from '../git/exec.ts'
import type { ObjectReader } from '../git/reader.ts'
import type { Readings } from './capture/readings.ts'
import type { QuietIndexes } from './capture/staged.ts'
import type { Objects } from './objects/objects.ts'
import type { VaultPlace } from './place.ts'

export interface VaultOptions {
  readonly home: string
  readonly exec: GitExec
  readonly pipe: GitPipe
  readonly files: FileSystem
  readonly clock: Clock
  /** Attribute files outside of the repository that apply to this user. */
  readonly attributes: readonly string[]
  /** Config files outside of the repository that apply to this user. */
  readonly configs: readonly string[]
}

/** Syncs our objects before each git call: git sees an object only once it is durable. */
export function whenSynced(
  objects: Objects,
  exec: GitExec,
  reader: ObjectReader,
): Pick<OpenVault, 'exec' | 'reader'> {
  const ensureSynced = async () => void (objects.isSynced || (await objects.sync()))
  return {
    exec: async (call) => {
      await ensureSynced()
      return exec(call)
    },
    reader: {
      read: async (oid: string) => (await ensureSynced(), reader.read(oid)),
      readSize: async (oid: string) => (await ensureSynced(), reader.readSize(oid)),
      close: () => reader.close(),
    },
  }
}

/** One vault, opened. */
export interface OpenVault extends VaultOptions, VaultPlace {
  readonly objects: Objects
  readonly reader: ObjectReader
  readonly readings: Readings
  readonly quiet: QuietIndexes
}
