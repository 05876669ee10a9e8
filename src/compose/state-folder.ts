/** The state folder: where it is, and that it is ours alone (docs/adr/0030-own-ground.md). */
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { quoted } from '../core/base/shell-quote.ts'
import { appError, AppError } from '../core/model/errors.ts'
import { compiledFolder } from '../core/model/layout.ts'
import { makeFolders } from '../files/make-folders.ts'
import { findFlaw, findForeign, type Flaw } from '../files/own-ground.ts'

/** `$OFFSHOOT_HOME`, else `$XDG_STATE_HOME/offshoot`, else `~/.local/state/offshoot`; bin/offshoot.js knows it, too. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env.OFFSHOOT_HOME) return path.resolve(env.OFFSHOOT_HOME)
  return path.join(env.XDG_STATE_HOME || path.join(userHome(env), '.local', 'state'), 'offshoot')
}

export function userHome(env: NodeJS.ProcessEnv): string {
  return env.HOME || os.homedir()
}

/** The folder of the user's settings files. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return env.XDG_CONFIG_HOME || path.join(userHome(env), '.config')
}

/**
 * Makes the state folder, and refuses one that others have written or could write: it says which commands are trusted and
 * which operations are to be finished.
 */
export function openStateFolder(home: string): void {
  makeHome(home)
  const flaw = closed(findFlaw(home), home) ?? findForeign(home)
  if (flaw) throw unsafeError(flaw, home)
  // Made here, because bin/offshoot.js takes the folder only as it finds it.
  if (!existsSync(compiledFolder(home))) mkdirSync(compiledFolder(home), { recursive: true, mode: 0o700 })
}

/** A folder of ours that is open to others is closed. Some file systems know no modes, and it stays as it is. */
function closed(flaw: Flaw | undefined, home: string): Flaw | undefined {
  if (flaw?.kind !== 'open') return flaw
  chmodSync(flaw.path, 0o700)
  return findFlaw(home)
}

function unsafeError({ path: at, why, kind }: Flaw, home: string): AppError {
  const close = kind === 'loose' ? `Close it (chmod go-w ${quoted(at)}), or name` : 'Name'
  return new AppError('stateUnusable', `The state folder is not safe: ${at} ${why}.`, {
    path: home,
    hint: `${close} a folder of your own in OFFSHOOT_HOME.`,
  })
}

/** Names the state folder in the error: the system's message (EEXIST, EROFS) would not say which setting to change. */
function makeHome(home: string): void {
  try {
    makeFolders(home)
  } catch (cause) {
    if (appError(cause).problem === 'diskFull') throw cause
    throw new AppError('stateUnusable', `The state folder ${home} cannot be made.`, { path: home, cause })
  }
}
