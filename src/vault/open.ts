/** Opens vaults, each once, and says what an opened one is. */
import type { Repo } from '../core/model/repo.ts'
import type { Step } from '../core/model/step.ts'
import type { Task } from '../core/model/task.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { GitExec, GitPipe } from '../git/exec.ts'
import { objectReader, type ObjectReader } from '../git/reader.ts'
import type { Overlay } from './capture/overlay.ts'
import { type Readings, readings } from './capture/readings.ts'
import type { QuietIndexes } from './capture/staged.ts'
import { hasSteps, stepsLost } from './journal/lost.ts'
import { type Objects, vaultObjects } from './objects/objects.ts'
import {
  clearScratch,
  copyShallow,
  makeVault,
  noteRepo,
  readAlgorithm,
  type VaultPlace,
  vaultPlace,
} from './place.ts'

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

/** What is remembered of tasks, by uid. It outlives a vault that must be opened again. */
interface Memory {
  /** The overlay of each task as of its last capture. */
  readonly overlays: Map<string, Overlay>
  /** Each step 0 that is being made, or was made. */
  readonly seeding: Map<string, Promise<Step>>
}

/** One vault, opened. */
export interface OpenVault extends VaultOptions, VaultPlace, Memory {
  readonly objects: Objects
  readonly reader: ObjectReader
  readonly readings: Readings
  readonly quiet: QuietIndexes
}

export interface Opener {
  /** Opens the vault of a repository, and makes it where it is missing. */
  open(repo: Repo): Promise<OpenVault>
  /** If a vault that held steps is missing, we do not make a new one: its backup may come back. */
  openFor(repo: Repo, task: Task): Promise<OpenVault>
  /** Ends the git processes of the opened vaults. */
  close(): void
}

export function vaultOpener(options: VaultOptions): Opener {
  const opened = new Map<string, Promise<OpenVault>>()
  const memory: Memory = { overlays: new Map(), seeding: new Map() }

  const open = (repo: Repo): Promise<OpenVault> => {
    const known = opened.get(repo.name)
    if (known) return known
    const forget = () => opened.delete(repo.name)
    const opening = openVault(options, memory, repo, forget)
    opened.set(repo.name, opening)
    opening.catch(forget)
    return opening
  }

  return {
    open,
    async openFor(repo, task) {
      if (!opened.has(repo.name) && hasSteps(task)) {
        const { vault } = vaultPlace(options.home, repo)
        if ((await options.files.readKind(vault)) === undefined) throw stepsLost(task)
      }
      return open(repo)
    },
    close() {
      for (const opening of opened.values()) opening.then((vault) => vault.reader.close()).catch(() => {})
      opened.clear()
    },
  }
}

async function openVault(
  options: VaultOptions,
  memory: Memory,
  repo: Repo,
  onBroken: () => void,
): Promise<OpenVault> {
  const { files, exec, pipe } = options
  const place = vaultPlace(options.home, repo)
  const algorithm = await readAlgorithm(files, repo, place.vault)
  await makeVault(files, place.vault, algorithm)
  await noteRepo(files, place.vault, repo)
  await clearScratch(files, place.vault)
  await copyShallow(files, repo.commonDir, place.vault)
  const reader = objectReader(pipe, { gitDir: place.vault, alternates: place.alternates })
  const objects = vaultObjects(files, place.vault, algorithm, reader, onBroken)
  const synced = whenSynced(objects, exec, reader)
  return { ...options, ...place, ...memory, ...synced, objects, readings: readings(), quiet: new Map() }
}

/** Syncs our objects before each git call: git sees an object only once it is durable. */
function whenSynced(
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
      end: () => reader.end(),
    },
  }
}
