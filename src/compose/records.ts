/** Chooses the adapters behind the records, all that a command which only reads them has to load (docs/adr/0016-records-apart-and-one-bundle.md). */
import { databaseFile } from '../core/model/layout.ts'
import type { Records } from '../core/ports/index.ts'
import type { Notes, RepoRecords, Store, Stores } from '../core/ports/store.ts'
import type { GitExec } from '../git/exec.ts'
import { locate } from '../git/locate.ts'
import { realPathOf } from '../git/look.ts'
import { findOwnRun } from '../process/own-run.ts'
import { sqliteStores } from '../store/sqlite.ts'
import { openStateFolder, stateFolder } from './state-folder.ts'

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

export interface OpenRecords extends Records {
  close(): Promise<void>
}

/** Opens the store on first use. */
export function openRecords({ home, around = {}, exec, named }: RecordsOptions): OpenRecords {
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
  return openRecords({ home: stateFolder(env), exec, named })
}

/** The run of the agent that started this process, directly or not. */
export function findRun(env: NodeJS.ProcessEnv): string | undefined {
  return findOwnRun(env)
}
