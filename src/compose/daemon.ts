/** Chooses the adapters of the daemon, and a private folder for its socket. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import { daemonSocket } from '../core/model/layout.ts'
import type { Store } from '../core/ports/store.ts'
import { findFlaw } from '../files/own-ground.ts'
import { type Composed, compose } from './full.ts'
import { openStateFolder } from './state-folder.ts'

export interface DaemonParts {
  readonly ports: Composed
  readonly socketFolder: string
  /** Calls back after each append of this process to the log. */
  onAppend(appended: () => void): void
}

export function composeDaemon(env: NodeJS.ProcessEnv): DaemonParts {
  let tell = () => {}
  const around = { store: (store: Store) => tellingAppends(store, () => tell()) }
  // Nobody is at the streams of a daemon but whoever reads what it prints.
  const ports = compose({ env, around, lendsStreams: false })
  openStateFolder(ports.home)
  const onAppend = (appended: () => void) => void (tell = appended)
  return { ports, socketFolder: socketFolder(ports.home, env), onAppend }
}

function tellingAppends(store: Store, tell: () => void): Store {
  const append: Store['append'] = async (change) => {
    const appended = await store.append(change)
    if (appended === 'done') tell()
    return appended
  }
  return { ...store, append }
}

/** Systems allow 104 or 108 bytes for the path of a socket, with a zero at the end. */
const longest = 103

/**
 * The state folder, or one with a shorter path that belongs to it. It has to be ours alone: whoever can write there could
 * put a socket of their own in place of ours.
 */
export function socketFolder(home: string, env: NodeJS.ProcessEnv): string {
  if (Buffer.byteLength(daemonSocket(home)) <= longest) return home
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16)
  const folder = path.join(env.XDG_RUNTIME_DIR || os.tmpdir(), `offshoot-${process.geteuid?.() ?? 0}-${name}`)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
  requireOwn(folder)
  return folder
}

function requireOwn(folder: string): void {
  const flaw = lstatSync(folder).isDirectory() ? findFlaw(folder) : { path: folder, why: 'is no folder' }
  if (flaw)
    throw new AppError(
      'stateUnusable',
      `The folder of the daemon’s socket is not safe: ${flaw.path} ${flaw.why}.`,
      {
        path: folder,
        hint: `Move it away, or name a state folder with a shorter path in OFFSHOOT_HOME.`,
      },
    )
}
