/**
 * Every way out of the core, on one page. A verb is handed these and nothing else, so a test can put a fault in
 * front of each single effect. Methods that change the world are listed in `effects` below.
 */
import type { Agent } from './agent.ts'
import type { Place } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import type { Owner } from '../model/task.ts'
import type { Checkouts } from './checkouts.ts'
import type { Commands } from './commands.ts'
import type { Contents } from './contents.ts'
import type { Files } from './files.ts'
import type { Git } from './git.ts'
import type { Isolations, Slots } from './isolation.ts'
import type { Locks } from './locks.ts'
import type { Processes, Sockets } from './processes.ts'
import type { Sandboxes } from './sandbox.ts'
import type { SettingsSource } from './settings.ts'
import type { Notes, RepoRecords, Store } from './store.ts'
import type { Vault } from './vault.ts'

/** What the verbs need that only look into the records. Nothing of it spawns anything. */
export interface Records {
  readonly store: Store
  readonly repos: RepoRecords
  readonly notes: Notes
  /** Throws WT_009 when `dir` is in no repository. */
  locate(dir: string): Promise<Place>
  /** Whether whoever is in the middle of a verb still runs. */
  isAlive(owner: Owner): Promise<boolean>
}

export interface Ports extends Records {
  readonly clock: Clock
  readonly ids: Ids
  readonly files: Files
  readonly git: Git
  readonly vault: Vault
  readonly contents: Contents
  readonly checkouts: Checkouts
  readonly isolations: Isolations
  readonly slots: Slots
  readonly locks: Locks
  readonly processes: Processes
  readonly sockets: Sockets
  readonly settings: SettingsSource
  readonly commands: Commands
  readonly sandboxes: Sandboxes
  /** Those that come with offshoot. */
  readonly agents: readonly Agent[]
  /** What a module of the user's exports. Throws WT_016 when it cannot be loaded. */
  loadModule(file: string): Promise<readonly unknown[]>
  /** Puts all records out of use, and keeps in the folder what can be kept of them; the next use begins without any. */
  setRecordsAside(folder: string): Promise<void>
  /** Work that nobody waits for; it is done again by whoever needs it, should it fail. */
  later(work: () => Promise<unknown>): void
  /** Has workspaces made ahead for the repository that the folder is in, by a process of its own; nobody waits for it. */
  makeAhead(dir: string, settings: Settings): void
  /** The state folder. */
  readonly home: string
  /** What `~` stands for in settings. */
  readonly userHome: string
  /** Where anybody may leave a file for a while. */
  readonly temp: string
}

export interface Clock {
  now(): Date
}

interface Ids {
  /** 20 characters of [0-9a-z], never handed out twice. */
  uid(): string
}
