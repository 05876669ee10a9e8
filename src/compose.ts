/** The only file that names concrete adapters. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Files, Ports, Store } from './core/ports.ts'
import { nodeFiles } from './files/node.ts'
import { type GitExec, gitExec } from './git/exec.ts'
import { commandGit } from './git/index.ts'
import { sqliteLocks } from './lock/sqlite.ts'
import { processes } from './process/processes.ts'
import type { SettingFlags } from './settings/keys.ts'
import { settingsSource } from './settings/source.ts'
import { sqliteStore } from './store/sqlite.ts'

export interface ComposeOptions {
  /** The state folder; by default what `stateFolder(env)` says. */
  readonly home?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly flags?: SettingFlags | undefined
  /** Stands between the verbs and an adapter: how a test puts a fault in front of each effect. */
  readonly around?: {
    readonly files?: (files: Files) => Files
    readonly store?: (store: Store) => Store
    readonly exec?: (exec: GitExec) => GitExec
  }
}

/** `$OFFSHOOT_HOME`, else `$XDG_STATE_HOME/offshoot`, else `~/.local/state/offshoot`. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env.OFFSHOOT_HOME) return path.resolve(env.OFFSHOOT_HOME)
  return path.join(env.XDG_STATE_HOME || path.join(userHome(env), '.local', 'state'), 'offshoot')
}

function userHome(env: NodeJS.ProcessEnv): string {
  return env.HOME || os.homedir()
}

export interface Composed extends Ports {
  close(): void
}

/** Everything the verbs need, on the real machine. The store is opened when it is first asked for. */
export function compose(options: ComposeOptions = {}): Composed {
  const { env = process.env, around = {} } = options
  const home = options.home ?? stateFolder(env)
  const clock = { now: () => new Date() }
  const children = processes(path.join(home, 'children'))
  const files = around.files?.(nodeFiles()) ?? nodeFiles()
  const spawned = gitExec({ env, recordChild: children.recordChild })
  const exec = around.exec?.(spawned) ?? spawned
  let store: Store | undefined
  const openStore = () => {
    if (store) return store
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const opened = sqliteStore(path.join(home, 'state.db'))
    store = around.store?.(opened) ?? opened
    return store
  }
  const notes = {
    find: (key: string) => openStore().findNote(key),
    put: (key: string, value: string) => openStore().putNote(key, value),
  }
  const configFolder = env.XDG_CONFIG_HOME || path.join(userHome(env), '.config')
  return {
    home,
    userHome: userHome(env),
    clock,
    ids: { uid },
    files,
    git: commandGit(exec, files, notes, env),
    get store() {
      return openStore()
    },
    locks: sqliteLocks(path.join(home, 'locks'), children.self, clock),
    processes: children,
    settings: settingsSource({
      userFile: path.join(configFolder, 'offshoot', 'config.yaml'),
      env,
      flags: options.flags,
    }),
    close() {
      store?.close()
      store = undefined
    },
  }
}

/** 20 characters of base 32: 100 random bits. */
function uid(): string {
  const alphabet = '0123456789abcdefghijklmnopqrstuv'
  return Array.from(randomBytes(20), (byte) => alphabet[byte % 32]).join('')
}
