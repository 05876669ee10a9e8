/** The built command, and any other, as a certain user of the machine: how a test sees what another user can reach. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import path from 'node:path'

/** What is missing for tests with several users; undefined when nothing is. */
export const missingForUsers =
  process.getuid?.() !== 0
    ? 'root, who alone can become another user'
    : spawnSync('setpriv', ['--version']).status !== 0
      ? 'setpriv, of util-linux'
      : undefined

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

export interface UserAt {
  readonly uid: number
  readonly cwd: string
  readonly env: Record<string, string>
}

export function asUser({ uid, cwd, env }: UserAt, ...argv: string[]): SpawnSyncReturns<string> {
  const who = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--']
  return spawnSync('setpriv', [...who, ...argv], { cwd, env, encoding: 'utf8' })
}

/** The built command, run by that user. */
export function offshootAs(user: UserAt, ...args: string[]): SpawnSyncReturns<string> {
  return asUser(user, process.execPath, bin, ...args)
}
