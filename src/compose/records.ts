/** Chooses the adapters behind the records, all that a command which only reads them has to load (docs/adr/0016-records-apart-and-one-bundle.md). */
import { readFileSync } from 'node:fs'
import {
  databaseFile,
  forecastFiles,
  settingsFile,
  userSettingsFile,
  vaultFolder,
} from '../core/model/layout.ts'
import { markRef } from '../core/model/refs.ts'
import { defaultSettings } from '../core/model/settings.ts'
import type { Records } from '../core/ports/index.ts'
import type { Notes, RepoRecords, Store, Stores } from '../core/ports/store.ts'
import type { GitExec } from '../git/exec.ts'
import { locate } from '../git/locate.ts'
import { realPathOf } from '../git/look.ts'
import { readKind } from '../files/kind.ts'
import { settingsCheckout } from '../core/tasks/repo.ts'
import { findOwnRun } from '../process/own-run.ts'
import { sqliteStores } from '../store/sqlite.ts'
import { configFolder, openStateFolder, stateFolder, userHome } from './state-folder.ts'

/** Wraps the adapters of the records. */
export interface AroundRecords {
  readonly store?: (store: Store) => Store
  readonly repos?: (repos: RepoRecords) => RepoRecords
  readonly notes?: (notes: Notes) => Notes
}

export interface RecordsOptions {
  readonly home: string
  readonly around?: AroundRecords | undefined
  /** Git, which is needed only for a repository of another user. */
  readonly exec: () => Promise<GitExec>
  /** The folder that the user named, as opposed to the one that they happen to be in. */
  readonly named?: string | undefined
}

type Looks = Pick<Records, 'clock' | 'files' | 'readForecast' | 'readMaxAgeDays'>

/** The records alone. */
export interface OpenStores extends Omit<Records, keyof Looks> {
  close(): Promise<void>
}

export interface OpenRecords extends Records {
  close(): Promise<void>
}

/** Opens the store on first use. */
export function openRecords({ home, around = {}, exec, named }: RecordsOptions): OpenStores {
  let stores: Stores | undefined
  const opened = () => {
    if (stores) return stores
    openStateFolder(home)
    const { store, repos, notes, close } = sqliteStores(databaseFile(home))
    stores = {
      store: around.store?.(store) ?? store,
      repos: around.repos?.(repos) ?? repos,
      notes: around.notes?.(notes) ?? notes,
      close,
    }
    return stores
  }
  const isNamed = async (folder: string) =>
    folder === (named && realPathOf(named)) || (await opened().repos.findAt(folder)) !== undefined
  return {
    get store() {
      return opened().store
    },
    get repos() {
      return opened().repos
    },
    get notes() {
      return opened().notes
    },
    locate: (dir) => locate({ exec, isNamed }, dir),
    findMark: async (place) => (await import('../git/refs.ts')).findRef(await exec(), place, markRef),
    isAlive: async (owner) => (await import('../process/alive.ts')).isAlive(owner),
    async close() {
      const closing = stores
      stores = undefined
      await closing?.close()
    },
  }
}

/** The records on the real machine, found by the environment of a command. */
export function composeRecords(env: NodeJS.ProcessEnv = process.env, named?: string): OpenRecords {
  const exec = async () => {
    const { gitExec } = await import('../git/exec.ts')
    return gitExec({ env, recordChild: () => () => {} })
  }
  // Getters of the records open the store, so they are not copied.
  const home = stateFolder(env)
  const records = openRecords({ home, exec, named })
  const more: Looks = {
    clock: { now: () => new Date() },
    files: { readKind },
    readForecast: async ({ name }) => findText(forecastFiles(vaultFolder(home, name)).forecast),
    readMaxAgeDays: (checkout) => readMaxAgeDays(records, checkout, env),
  }
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(records)) as OpenRecords
}

/** Loads what reads settings only if a file or a variable names this one: it takes as long as all the rest of `list`. */
async function readMaxAgeDays(
  records: OpenStores,
  checkout: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const owner = await settingsCheckout(records, checkout)
  const userFile = userSettingsFile(configFolder(env))
  const isSet = variable in env || [userFile, settingsFile(owner)].some(namesIt)
  if (!isSet) return defaultSettings.prune.maxAgeDays
  const { settingsSource } = await import('../settings/source.ts')
  const source = settingsSource({
    userFile,
    env,
    home: stateFolder(env),
    userHome: userHome(env),
    findOwner: async () => owner,
    isTrusted: async (folder, values) => (await import('./full.ts')).composeTrust(env, folder, values),
  })
  return (await source.read(owner)).prune.maxAgeDays
}

const variable = 'OFFSHOOT_PRUNE_MAX_AGE_DAYS'

function namesIt(file: string): boolean {
  return findText(file)?.includes('maxAgeDays') ?? false
}

/** Undefined for a file that cannot be read. */
function findText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** The run of the agent that started this process, directly or not. */
export function findRun(env: NodeJS.ProcessEnv): string | undefined {
  return findOwnRun(env)
}
