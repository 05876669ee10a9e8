/** A user's repository as a comparable value that no damage keeps from being read. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

export type State = Readonly<Record<string, string>>

const isOurRef = (ref: string) => /^refs\/(heads\/)?offshoot(\/|$)/.test(ref)
const hash = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

/** Folders that two copies of a repository have in different places, by what they are to be called. */
export type Places = Readonly<Record<string, string>>

/**
 * Everything but what offshoot may make: its own refs and their logs, worktrees' registrations, objects. Byte for byte,
 * to compare one repository at two moments; with `places`, to compare two copies of it: then neither where they are
 * counts, nor what their indexes note about files.
 */
export function repoState(dir: string, places?: Places): State {
  const exact = places === undefined
  const gitDir = path.join(dir, '.git')
  const state: Record<string, string> = { ...readRefs(gitDir) }
  const content = (file: string) =>
    exact ? readFileSync(file) : neutral(readFileSync(file, 'latin1'), places)
  addTree(state, dir, 'checkout', (name) => name === '.git', content)
  const left = (name: string) =>
    ['objects', 'worktrees', 'refs', 'packed-refs'].includes(name) ||
    (name.startsWith('logs/') && isOurRef(name.slice('logs/'.length))) ||
    (!exact && name === 'index')
  addTree(state, gitDir, 'git', left, content)
  if (!exact) state.index = plainGit(dir, 'ls-files', '--stage', '-v').trim()
  return state
}

/** A folder that is no repository. */
export function folderState(dir: string): State {
  const state: Record<string, string> = {}
  addTree(state, dir, path.basename(dir), () => false, readFileSync)
  return state
}

/** Folders count only where the checkout has them: git comes and goes with empty ones of its own. */
function addTree(
  state: Record<string, string>,
  folder: string,
  title: string,
  isLeftOut: (name: string) => boolean,
  read: (file: string) => Uint8Array | string,
): void {
  const walk = (below: string) => {
    for (const entry of readdirSync(path.join(folder, below))) {
      const name = path.join(below, entry)
      if (isLeftOut(name)) continue
      const file = path.join(folder, name)
      const stat = lstatSync(file)
      if (stat.isDirectory()) walk(name)
      else if (stat.isSymbolicLink()) state[`${title}/${name}`] = `link ${readlinkSync(file)}`
      else state[`${title}/${name}`] = `${stat.mode.toString(8)} ${stat.isFile() ? hash(read(file)) : ''}`
    }
  }
  walk('')
}

function neutral(text: string, places: Places): string {
  return Object.entries(places).reduce((now, [name, folder]) => now.replaceAll(folder, name), text)
}

/** Read from the files: git leaves out a ref whose object is gone. */
function readRefs(gitDir: string): State {
  const refs: Record<string, string> = {}
  for (const line of readOr(path.join(gitDir, 'packed-refs')).split('\n')) {
    const [object, ref] = line.split(' ')
    if (object && ref && !line.startsWith('#')) refs[ref] = object
  }
  const walk = (below: string) => {
    for (const entry of namesIn(path.join(gitDir, below))) {
      const name = `${below}/${entry}`
      if (lstatSync(path.join(gitDir, name)).isDirectory()) walk(name)
      else refs[name] = readOr(path.join(gitDir, name)).trim()
    }
  }
  walk('refs')
  return Object.fromEntries(Object.entries(refs).filter(([ref]) => !isOurRef(ref)))
}

function readOr(file: string): string {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'latin1') : ''
}

function namesIn(folder: string): string[] {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
}

/** Both streams, whatever the exit code: what git says is compared, also when it only complains. */
export function plainGit(dir: string, ...args: string[]): string {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' }
  const { stdout, stderr } = spawnSync('git', args, { cwd: dir, env, encoding: 'utf8', timeout: 10_000 })
  return stdout + stderr
}

/** The ids of all objects that can be read. */
export function readObjects(dir: string): Set<string> {
  const lines = plainGit(dir, 'cat-file', '--batch-all-objects', '--batch-check').split('\n')
  return new Set(lines.filter((line) => /^[0-9a-f]{40} \w+ \d+$/.test(line)).map((line) => line.slice(0, 40)))
}

/** What `git fsck` has to complain of. */
export function complaints(dir: string, places: Places): Set<string> {
  const lines = plainGit(dir, 'fsck', '--full', '--no-dangling', '--no-progress').split('\n')
  return new Set(
    lines
      .filter((line) => line !== '' && !line.startsWith('notice:'))
      .map((line) => neutral(line, places).replace(/\bworktrees\/[^/]+/, 'worktrees/<name>')),
  )
}

/** One line for each part that is not the same in both. */
export function changes(before: State, after: State): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [old, now] = [before[name], after[name]]
    if (old === now) return []
    return [`${name} ${old === undefined ? 'appeared' : now === undefined ? 'vanished' : 'changed'}`]
  })
}
