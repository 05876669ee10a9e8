/** What a repository's own file may set by itself, and what only once the user trusts it (docs/adr/0032-settings-by-origin.md). */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isBelow } from '../core/base/below.ts'
import { policyLevels } from '../core/model/enums.ts'
import { workspacesFolder } from '../core/model/layout.ts'
import { defaults, type SettingKey, variable } from './keys.ts'

/** The folders that a path in the repository's file may lead to. */
export interface Bounds {
  readonly checkout: string
  /** The state folder. */
  readonly home: string
  readonly userHome: string
}

interface Row {
  /** For the documentation: what the repository's file may do with the setting. */
  readonly may: string
  /** Whether the value counts without trust. */
  readonly isFree: (value: never, before: never) => boolean
  /** Completes "must be …" for a value that the file may not have, trusted or not. */
  readonly boundary?: { readonly is: string; readonly holds: (value: string, at: Bounds) => boolean }
}

const free: Row = { may: 'set', isFree: () => true }
const trusted: Row = { may: 'set, if trusted', isFree: () => false }
const lower: Row = {
  may: 'lower; raise, if trusted',
  isFree: (value: number, before: number) => value <= before,
}
const limit: Row = {
  may: 'limit; lift, if trusted',
  // 0 is no limit.
  isFree: (value: number, before: number) => before === 0 || (value !== 0 && value <= before),
}
const stricter: Row = {
  may: 'tighten; loosen, if trusted',
  isFree: (value: (typeof policyLevels)[number], before: (typeof policyLevels)[number]) =>
    policyLevels.indexOf(value) >= policyLevels.indexOf(before),
}
const added: Row = { may: 'add', isFree: () => true }
const insideRepository: Row = {
  may: 'set, inside the repository',
  isFree: () => true,
  boundary: { is: 'inside the repository or among the workspaces of the state folder', holds: isInside },
}
const remoteName: Row = {
  may: 'set, to a name',
  isFree: () => true,
  boundary: { is: 'the name of a remote', holds: (value) => /^\w[\w.-]*$/.test(value) },
}
const yoursAlone: Row = {
  may: 'not set',
  isFree: () => true,
  boundary: { is: 'empty', holds: (value) => value === '' },
}

/** A setting without a row counts only when the user trusts the file. */
const rows: { readonly [K in SettingKey]?: Row } = {
  enabled: free,
  'workspace.base': insideRepository,
  'workspace.name': free,
  'branch.name': free,
  'pool.size': lower,
  'ports.base': free,
  'ports.size': lower,
  'limits.perRepo': lower,
  'limits.concurrent': lower,
  'limits.global': limit,
  'limits.perAgent': limit,
  'limits.timeMinutes': limit,
  'limits.turns': limit,
  'policy.level': stricter,
  'policy.denied': added,
  'checkpoints.publish': free,
  'accept.squashMessage': free,
  'accept.mergeMessage': free,
  'accept.leftovers': free,
  'pr.remote': remoteName,
  // What it names may be a file of the repository, which an agent can write.
  'editor.command': yoursAlone,
  'lock.waitSeconds': lower,
}

export const repositoryMay = (key: SettingKey): Row => rows[key] ?? trusted

/** Whether a value of the repository's file counts only when the user trusts it. */
export function isRestricted(key: SettingKey, value: unknown): boolean {
  const before = defaults.get(key)
  const row = repositoryMay(key)
  return !isDeepStrictEqual(value, before) && !row.isFree(value as never, before as never)
}

/** What is wrong with a value that the repository's file may not have at all, and the way out. */
export function outOfBounds(
  key: SettingKey,
  value: unknown,
  at: Bounds,
): { readonly expected: string; readonly hint: string } | undefined {
  const { boundary } = repositoryMay(key)
  if (!boundary || boundary.holds(String(value), at)) return undefined
  return {
    expected: `${boundary.is} in the repository's own file`,
    hint: `Correct it, or set it yourself: in ~/.config/offshoot/config.yaml, or with ${variable(key)}.`,
  }
}

/** By its text alone: no workspace is made behind a link of the repository, as `start` looks again. */
function isInside(base: string, { checkout, home, userHome }: Bounds): boolean {
  if (base === '') return true
  const expanded = base === '~' || base.startsWith('~/') ? path.join(userHome, base.slice(1)) : base
  // Relative paths begin at the main checkout, which may be another one: they may leave none.
  if (!path.isAbsolute(expanded)) return isBelow(path.resolve('/repository', expanded), '/repository')
  return [checkout, path.dirname(workspacesFolder(home, 'any'))].some((folder) => isBelow(expanded, folder))
}
