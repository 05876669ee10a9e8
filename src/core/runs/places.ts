/** Where a path leads, as the policy sees it: into the workspace, out of it, to settings of agents, to secrets. Pure. */
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import { hole } from '../base/shell.ts'
import { isMadeOf } from '../base/stars.ts'
import { agentFileNames, agentFolderNames } from '../model/agent-files.ts'
import { settingsName } from '../model/layout.ts'
import { secretPaths } from '../model/secrets.ts'

export interface PolicyPlace {
  readonly workspace: string
  /** Folders outside of the workspace that an agent may write to, such as the temporary one. */
  readonly free: readonly string[]
  /** Folders in which nothing is free but the workspace: the state folder. */
  readonly closed: readonly string[]
  /** The folder that `~` stands for. */
  readonly home: string
}

/** The paths that a call names, each with the path that it leads to when every link is followed. */
export type RealPaths = ReadonlyMap<string, string>

/** The absolute path of a word, without `..`; `~` and what stands for it become the home folder. */
export const absolute = (file: string, place: PolicyPlace) => path.resolve(asWritten(file, place))

/** The same with every `..` left in it. What begins with an unknown part may be anywhere. */
export function asWritten(file: string, { workspace, home }: PolicyPlace): string {
  const local = file
    .replace(/^file:\/\//, '')
    .replace(/^\uFDD0/, `/${hole.any}`)
    .replace(/^[~\uFDD2](?=\/|$)/, home)
  return path.isAbsolute(local) ? local : `${workspace}${path.sep}${local}`
}

/** The path that the file is found at, links followed. */
export const realOf = (file: string, place: PolicyPlace, real: RealPaths) =>
  real.get(file) ?? absolute(file, place)

/** The place of its name, whose folder may be reached by links, while it may be a link itself. */
export function realEntry(file: string, place: PolicyPlace, real: RealPaths): string {
  const full = absolute(file, place)
  return path.join(realOf(path.dirname(full), place, real), path.basename(full))
}

/** In the workspace, or in a folder that is free for all. */
export function isInside(full: string, { workspace, free, closed }: PolicyPlace): boolean {
  if (isBelow(full, workspace)) return true
  if (closed.some((folder) => isBelow(full, folder))) return false
  return free.some((folder) => isBelow(full, folder) && !ours.test(path.relative(folder, full)))
}

/** Files in the temporary folder by which offshoot itself, or Node, is steered. */
const ours = /^(?:offshoot-[a-z0-9]{6}|node-compile-cache)(?:[/\\]|$)/i

/** Letters that file systems ignore: `.GIT` and `.g<zero width>it` are `.git` for some. */
const plainName = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()

const steering = new Set([...agentFolderNames, ...agentFileNames, settingsName, '.offshoot.yml'])

export interface Trouble {
  readonly reason: string
  /** A person may want it all the same, so that even the permissive level asks. */
  readonly open?: true
}

/** Why that file should not be written, or undefined. */
export function troubleOfWrite(file: string, place: PolicyPlace, real: RealPaths): Trouble | undefined {
  if (!isInside(realOf(file, place, real), place))
    return { reason: `${shown(file)} is outside of the workspace` }
  const name = guardedName(file, place, real)
  if (name === undefined) return undefined
  if (name === '.git') return { reason: `${shown(file)} belongs to git` }
  return { reason: `${shown(file)} steers agents or offshoot`, open: true }
}

/** The part of a path in the workspace, or in a folder that is free, that makes the file one of git's, of agents' or of ours. */
export function guardedName(file: string, place: PolicyPlace, real: RealPaths): string | undefined {
  const names = [realOf(file, place, real), absolute(file, place)].flatMap((full) => {
    const folder = [place.workspace, ...place.free].find((one) => isBelow(full, one))
    return folder === undefined ? [] : path.relative(folder, full).split(path.sep).map(plainName)
  })
  return names.find((name) => name === '.git' || steering.has(name))
}

/** Why that file should not be read at any level, or undefined. */
export function troubleOfRead(file: string, place: PolicyPlace, real: RealPaths): Trouble | undefined {
  const paths = [realOf(file, place, real), absolute(file, place)]
  const outside = paths.filter((full) => !isBelow(full, place.workspace))
  return outside.some(isSecret) ? { reason: 'it reads secrets of yours' } : undefined
}

/**
 * Parts of paths, one after the other, below which or at which secrets are kept. Those that landing does not refuse are
 * folders of a home or of the machine, and files that hold no secret in most repositories, such as `.npmrc`.
 */
const secrets = [
  ...secretPaths,
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.npmrc',
  '.pypirc',
  '.my.cnf',
  '.password-store',
  '.vault-token',
  '.bash_history',
  '.zsh_history',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.terraform.d',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/git/credentials',
  '.config/rclone',
  '.config/op',
  '.local/share/keyrings',
  '.local/share/opencode/auth.json',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  'library/keychains',
  'etc/shadow',
  'etc/gshadow',
  'etc/sudoers',
  'run/secrets',
].map((secret) => secret.split('/'))

function isSecret(full: string): boolean {
  const names = full.split(path.sep).map((name) => name.toLowerCase())
  if (names[1] === 'proc') return /^(?:environ|mem|maps|auxv|fd|root|cwd)$/.test(names[3] ?? '')
  return names.some((_, at) => secrets.some((parts) => parts.every((part, n) => mayBe(names[at + n], part))))
}

/** Whether a name, or a pattern such as `.ss?`, can stand for this one. A pattern finds no name with a dot before it. */
function mayBe(name: string | undefined, wanted: string): boolean {
  if (name === undefined || !name.includes(hole.glob)) return name === wanted
  if (name.startsWith(hole.glob) && wanted.startsWith('.')) return false
  if (!/\w/.test(name)) return false
  return isMadeOf(name.split(hole.glob), wanted)
}

/** A word for people, without the characters that stand for holes. */
export const shown = (word: string) =>
  word.replaceAll(hole.home, '~').replaceAll(hole.glob, '*').replaceAll(hole.any, '…')
