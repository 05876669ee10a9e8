/** Chooses every concrete adapter, and hands them to the verbs as ports; records.ts chooses those behind the records. */
import { randomBytes } from 'node:crypto'
import os from 'node:os'
import path from 'node:path'
import { agents } from '../agents/index.ts'
import { loadModule } from '../agents/load.ts'
import { gitCheckouts } from '../checkout/index.ts'
import type { Checkouts } from '../core/ports/checkouts.ts'
import type { Commands } from '../core/ports/commands.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Ports } from '../core/ports/index.ts'
import type { Vault } from '../core/ports/vault.ts'
import type { RestrictedValue } from '../core/model/settings.ts'
import { isTrusted } from '../core/hooks/trust.ts'
import { settingsCheckout } from '../core/tasks/repo.ts'
import { nodeFiles } from '../files/node.ts'
import { type GitExec, gitExec, gitPipe } from '../git/exec.ts'
import { commandGit } from '../git/index.ts'
import { cloneIsolation } from '../isolation/clone.ts'
import { findPointers } from '../isolation/lfs.ts'
import { gitSlots } from '../isolation/slot.ts'
import { bringModules, fillSubmodules } from '../isolation/submodules.ts'
import { worktreeIsolation } from '../isolation/worktree.ts'
import { sqliteLocks } from '../lock/sqlite.ts'
import { startBehind } from '../process/behind.ts'
import { commands } from '../process/commands.ts'
import { detachedRuns } from '../process/detached-runs.ts'
import { processes } from '../process/processes.ts'
import { machineSockets } from '../process/sockets.ts'
import { sandboxesOn } from '../sandbox/index.ts'
import type { SettingFlags } from '../settings/keys.ts'
import { settingsSource } from '../settings/source.ts'
import { gitVault } from '../vault/index.ts'
import { type AroundRecords, openRecords } from './records.ts'
import { configFolder, stateFolder, userHome } from './state-folder.ts'
import {
  childrenFolder,
  databaseNames,
  forecastFiles,
  locksFolder,
  userSettingsFile,
  vaultFolder,
} from '../core/model/layout.ts'

type RecordChild = (pid: number, changing?: string) => () => void

export interface ComposeOptions {
  /** The state folder; by default `stateFolder(env)`. */
  readonly home?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
  /** The folder that the user named, as opposed to the one that they happen to be in. */
  readonly named?: string | undefined
  readonly flags?: SettingFlags | undefined
  /**
   * The clock for the times that are recorded, and for the age of records; by default the system's. The age of a file is
   * always measured with the system's clock, because the system stamps files.
   */
  readonly clock?: Clock | undefined
  /** False: starts no background process, such as the one that makes workspaces ahead. */
  readonly background?: boolean | undefined
  /** False: a protocol uses stdin and stdout, so that no program which offshoot runs may read or write there. */
  readonly lendsStreams?: boolean | undefined
  /** Wraps adapters. A test puts a fault in front of each effect this way. */
  readonly around?: AroundRecords & {
    readonly files?: (files: FileSystem) => FileSystem
    readonly vault?: (vault: Vault) => Vault
    readonly checkouts?: (checkouts: Checkouts) => Checkouts
    readonly commands?: (commands: Commands) => Commands
    readonly exec?: (exec: GitExec) => GitExec
    readonly recordChild?: (record: RecordChild) => RecordChild
  }
}

export interface Composed extends Ports {
  /** Resolves when background work has ended and no git of ours runs. */
  close(): Promise<void>
}

/** All ports on the real machine. The store is opened on first use. */
export function compose(options: ComposeOptions = {}): Composed {
  const { env = process.env, around = {}, clock = { now: () => new Date() } } = options
  const home = options.home ?? stateFolder(env)
  const children = processes(childrenFolder(home), env)
  const files = around.files?.(nodeFiles()) ?? nodeFiles()
  const recordChild = around.recordChild?.(children.recordChild) ?? children.recordChild
  const spawning = { env, recordChild }
  const spawned = gitExec(spawning)
  const behind = new Set<Promise<unknown>>()
  const settled = (work: Promise<unknown>) => {
    const running = work.catch(() => {})
    behind.add(running)
    void running.finally(() => behind.delete(running))
  }
  const called = around.exec?.(spawned) ?? spawned
  // Of several gits at once, the first failure ends the verb while the others still run: `close` waits for them.
  const exec: GitExec = (call) => {
    const answer = called(call)
    settled(answer)
    return answer
  }
  const records = openRecords({ home, around, exec: async () => exec, named: options.named })
  const notes = {
    find: (key: string) => records.notes.find(key),
    put: (key: string, value: string) => records.notes.put(key, value),
  }
  const configs = configFolder(env)
  const attributes = [path.join(configs, 'git', 'attributes'), '/etc/gitattributes']
  const gitConfigs = [
    path.join(userHome(env), '.gitconfig'),
    path.join(configs, 'git', 'config'),
    '/etc/gitconfig',
  ]
  const ownVault = gitVault({
    home,
    exec,
    pipe: gitPipe(spawning),
    files,
    clock,
    attributes,
    configs: gitConfigs,
  })
  const vault = around.vault?.(ownVault) ?? ownVault
  const git = commandGit(exec, files, notes, env)
  const checkouts = gitCheckouts(exec)
  const started = commands({ ...spawning, lendsStreams: options.lendsStreams })
  const temp = env.TMPDIR || os.tmpdir()
  const ownCommands = around.commands?.(started) ?? started
  const ports: Composed = {
    home,
    userHome: userHome(env),
    temp,
    clock,
    ids: { uid, secret: () => randomBytes(32).toString('base64url') },
    files,
    durable: files,
    disk: files,
    git,
    refs: git,
    history: git,
    seeding: vault,
    steps: vault,
    publishing: vault,
    care: vault,
    contents: vault,
    trials: vault,
    indexes: vault,
    journal: vault,
    checkouts: around.checkouts?.(checkouts) ?? checkouts,
    slots: gitSlots(exec, files),
    isolations: {
      worktree: worktreeIsolation(exec, files),
      clone: cloneIsolation(exec, files),
      bringModules: (repo, task, pointers, signal) => bringModules(exec, files, repo, task, pointers, signal),
      fillSubmodules: (repo, task, commit, signal) => fillSubmodules(exec, files, repo, task, commit, signal),
      findPointers: (repo, task, signal) => findPointers(exec, files, repo, task, signal),
    },
    get store() {
      return records.store
    },
    get repos() {
      return records.repos
    },
    get notes() {
      return records.notes
    },
    locate: records.locate,
    findMark: records.findMark,
    isAlive: records.isAlive,
    readForecast: ({ name }) => files.readText(forecastFiles(vaultFolder(home, name)).forecast),
    readMaxAgeDays: async (checkout) => (await ports.settings.read(checkout)).prune.maxAgeDays,
    locks: sqliteLocks(locksFolder(home), children.self, clock),
    processes: children,
    sockets: machineSockets(),
    settings: settingsSource({
      userFile: userSettingsFile(configs),
      env,
      flags: options.flags,
      home,
      userHome: userHome(env),
      findOwner: (checkout) => settingsCheckout(ports, checkout),
      isTrusted: (checkout, values) => isTrusted(ports, checkout, values),
    }),
    commands: ownCommands,
    detachedRuns: detachedRuns({ ...env, OFFSHOOT_HOME: home }),
    sandboxes: sandboxesOn({ commands: ownCommands, files, home: userHome(env), temp }),
    agents,
    loadModule,
    async setRecordsAside(folder) {
      await records.close()
      await files.makeFolder(folder, 0o700)
      for (const name of databaseNames) {
        const file = path.join(home, name)
        if ((await files.readKind(file)) !== undefined) await files.rename(file, path.join(folder, name))
      }
    },
    later: (work) => settled(work()),
    makeAhead(dir, settings) {
      if (options.background === false) return
      const more = {
        OFFSHOOT_HOME: home,
        OFFSHOOT_POOL_SIZE: String(settings.pool.size),
        OFFSHOOT_WORKSPACE_BASE: settings.workspace.base,
      }
      startBehind(['pool', '-C', dir, '--quiet'], { ...env, ...more })
    },
    async close() {
      while (behind.size > 0) await Promise.all(behind)
      ownVault.close()
      await records.close()
    },
  }
  return ports
}

/** Whether the user trusts these values, for a command that has opened the records alone. */
export async function composeTrust(
  env: NodeJS.ProcessEnv,
  checkout: string,
  values: readonly RestrictedValue[],
): Promise<boolean> {
  const ports = compose({ env, named: checkout })
  try {
    return await isTrusted(ports, checkout, values)
  } finally {
    await ports.close()
  }
}

/** 20 characters of base 32: 100 random bits. */
function uid(): string {
  const alphabet = '0123456789abcdefghijklmnopqrstuv'
  return Array.from(randomBytes(20), (byte) => alphabet[byte % 32]).join('')
}
