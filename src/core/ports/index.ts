/** Every way out of the core, on one page: a verb reaches the world through these ports and nothing else (docs/adr/0029-core-in-folders.md). */
import type { Place, RepoRecord } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import type { Owner } from '../model/task.ts'
import type { Agent } from './agent.ts'
import type { Checkouts } from './checkouts.ts'
import type { Clock } from './clock.ts'
import type { Commands } from './commands.ts'
import type { Contents } from './contents.ts'
import type { DetachedRuns } from './detached-runs.ts'
import type { Disk, DurableFiles, Files } from './files.ts'
import type { Git } from './git.ts'
import type { History } from './history.ts'
import type { Indexes } from './indexes.ts'
import type { Ids } from './ids.ts'
import type { Isolations, Slots } from './isolation.ts'
import type { Journal } from './journal.ts'
import type { Locks } from './locks.ts'
import type { Processes, Sockets } from './processes.ts'
import type { Publishing } from './publishing.ts'
import type { Refs } from './refs.ts'
import type { Sandboxes } from './sandbox.ts'
import type { Seeding } from './seeding.ts'
import type { SettingsSource } from './settings.ts'
import type { Steps } from './steps.ts'
import type { Notes, RepoRecords, Store } from './store.ts'
import type { Trials } from './trials.ts'
import type { VaultCare } from './vault-care.ts'

/** The ports of verbs that only read records, without a process (docs/adr/0016-records-apart-and-one-bundle.md). */
export interface Records {
  readonly store: Store // tasks and their events
  readonly repos: RepoRecords // repositories that offshoot has worked in
  readonly notes: Notes // small values by key
  /** The repository that `dir` is in. Throws `notARepository` when it is in none. */
  locate(dir: string): Promise<Place>
  /** The object that the mark of a repository is at; undefined where there is no mark, or no repository. */
  findMark(place: Place): Promise<string | undefined>
  /** Whether that process still runs. */
  isAlive(owner: Owner): Promise<boolean>
  readonly files: Pick<Files, 'readKind'> // whether a workspace is there
  readonly clock: Clock // the time
  /** The last forecast of a repository, as text; undefined when there is none. */
  readForecast(repo: Pick<RepoRecord, 'name'>): Promise<string | undefined>
  /** `prune.maxAgeDays` of a checkout. */
  readMaxAgeDays(checkout: string): Promise<number>
}

/** All ports; src/compose connects them to the adapters. */
export interface Ports extends Records {
  readonly files: Files // the file system
  readonly durable: DurableFiles // writes that survive a power cut
  readonly disk: Disk // how full the disk is
  readonly git: Git // the user's repository and its checkouts
  readonly refs: Refs // its refs, their logs and git's locks on them
  readonly history: History // its commits, and which have landed
  readonly seeding: Seeding // step 0 of a task
  readonly steps: Steps // the steps after it
  readonly publishing: Publishing // steps as commits of the user's repository
  readonly contents: Contents // files and trees of the vault
  readonly trials: Trials // landings that are only tried out
  readonly indexes: Indexes // index files, kept as contents
  readonly journal: Journal // operations, written before their first effect
  readonly care: VaultCare // the vault as a whole
  readonly checkouts: Checkouts // writes into a user's checkout
  readonly isolations: Isolations // makes workspaces
  readonly slots: Slots // makes workspaces ahead of need
  readonly locks: Locks // one writer at a time, across processes
  readonly processes: Processes // which processes live, and the children of dead ones
  readonly sockets: Sockets // which network ports are taken
  readonly commands: Commands // runs programs for offshoot itself
  readonly detachedRuns: DetachedRuns // runs in processes that outlive ours
  readonly sandboxes: Sandboxes // opens the cell that a run or a hook works in
  readonly settings: SettingsSource // the settings of a checkout
  readonly agents: readonly Agent[] // the agents that come with offshoot
  readonly ids: Ids // names that nobody else has, and secrets
  readonly home: string // the state folder
  readonly userHome: string // `~` in settings
  readonly temp: string // the folder for temporary files
  /** Imports a module of the user and answers its exports. Throws `badSettings` when it cannot be loaded. */
  loadModule(file: string): Promise<readonly unknown[]>
  /** Moves all records into the folder, as far as they can be read; the next use begins without any. */
  setRecordsAside(folder: string): Promise<void>
  /** Starts work that no verb waits for; if it fails, the next verb that needs it does it again. */
  later(work: () => Promise<unknown>): void
  /** Starts a process that makes workspaces ahead for the repository at `dir`. */
  makeAhead(dir: string, settings: Settings): void
}
