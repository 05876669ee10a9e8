/** Where everything of the vault is. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { FileSystem } from '../core/ports/files.ts'
import type { Repo, RepoRecord } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import { branchRefs, nowhereHead, taskRef, taskRefs } from '../core/model/refs.ts'
import { scratchIn, taskFoldersIn, vaultFolder } from '../core/model/layout.ts'
import type { Algorithm } from './objects/objects.ts'

export interface VaultPlace {
  readonly vault: string
  /** The git folder of the user's repository. */
  readonly commonDir: string
  /** The user's objects: for reading. */
  readonly alternates: readonly string[]
  /** The user's own list of what to ignore in this repository. */
  readonly excludes: string
}

export function vaultPlace(home: string, repo: RepoRecord): VaultPlace {
  return {
    vault: vaultFolder(home, repo.name),
    commonDir: repo.commonDir,
    alternates: [path.join(repo.commonDir, 'objects')],
    excludes: path.join(repo.commonDir, 'info', 'exclude'),
  }
}

/** The commit of the last step. */
export function readTip(
  files: FileSystem,
  vault: string,
  task: Pick<Task, 'uid'>,
): Promise<string | undefined> {
  return readRef(files, vault, taskRef(task.uid))
}

/** A power cut leaves a ref that is there and says nothing. */
export function isObject(text: string | undefined): text is string {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

/** Whoever runs `git gc` in the vault moves the refs into one file. */
export async function readRef(files: FileSystem, vault: string, ref: string): Promise<string | undefined> {
  const loose = await files.readText(path.join(vault, ref))
  if (loose !== undefined) return loose.trim()
  const packed = (await files.readText(path.join(vault, 'packed-refs'))) ?? ''
  return new RegExp(`^([0-9a-f]+) ${ref}$`, 'm').exec(packed)?.[1]
}

/** As the repository says, or when it is gone, as the vault does that was made for it. */
export async function readAlgorithm(files: FileSystem, repo: Repo, vault: string): Promise<Algorithm> {
  const config =
    (await files.readText(path.join(repo.commonDir, 'config'))) ??
    (await files.readText(path.join(vault, 'config'))) ??
    ''
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 'sha256' : 'sha1'
}

/** Everything that could change a byte on its way is off; what is written stays on the disk. */
function config(algorithm: Algorithm): string {
  return `[core]
	repositoryformatversion = ${algorithm === 'sha1' ? 0 : 1}
	bare = true
	hooksPath = /dev/null
	fsync = all
	fsyncMethod = fsync
	bigFileThreshold = 16m
	packedGitWindowSize = 4m
	packedGitLimit = 16m
[gc]
	auto = 0
	packRefs = false
[maintenance]
	auto = false
[fsck]
${unjudged.map((what) => `\t${what} = ignore\n`).join('')}${algorithm === 'sha1' ? '' : '[extensions]\n\tobjectformat = sha256\n'}`
}

/** What a file that git itself reads must not say. The vault keeps what was written; the user's repository refuses it. */
const unjudged = ['Blob', 'Large', 'Name', 'Parse', 'Path', 'Symlink', 'Update', 'Url'].map(
  (what) => `gitmodules${what}`,
)

/** What a process that was killed has left behind: copies of files, which may be big. */
export async function clearScratch(files: FileSystem, vault: string): Promise<void> {
  const scratch = scratchIn(vault)
  for (const name of await files.readNames(scratch)) {
    const pid = Number(/^(?:[a-z]+-)?(\d+)-/.exec(name)?.[1])
    if (Number.isNaN(pid) || isAlive(pid)) continue
    const found = await stat(path.join(scratch, name)).catch(() => undefined)
    // A process that cannot be seen from here may be one of another container: an hour is more than it needs.
    if (found && Date.now() - found.mtimeMs > 3_600_000) await files.remove(path.join(scratch, name))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Where the user's history is cut off: the vault reads their commits, and must not look for what lies behind. */
export async function copyShallow(files: FileSystem, from: string, to: string): Promise<void> {
  const [theirs, ours] = [path.join(from, 'shallow'), path.join(to, 'shallow')]
  const [text, known] = [await files.readText(theirs), await files.readText(ours)]
  if (text === known) return
  if (text === undefined) await files.remove(ours)
  else await files.write(ours, text, 0o600)
}

/** A bare repository, made file by file; HEAD, the last one, says that it is whole. */
export async function makeVault(files: FileSystem, vault: string, algorithm: Algorithm): Promise<void> {
  if ((await files.readKind(path.join(vault, 'HEAD'))) === 'file') return
  await writeParts(files, vault, algorithm)
}

function ownParts(algorithm: Algorithm): [name: string, text: string][] {
  return [
    ['config', config(algorithm)],
    ['info/attributes', '* -text -eol -crlf -ident -filter -working-tree-encoding\n'],
    ['HEAD', nowhereHead],
  ]
}

/** Whether what says how it is kept is as we write it: where git cannot work then, something else is wrong. */
export async function hasOwnParts(files: FileSystem, vault: string): Promise<boolean> {
  const read = ([name]: [string, string]) => files.readText(path.join(vault, name))
  for (const algorithm of ['sha1', 'sha256'] as const) {
    const parts = ownParts(algorithm)
    const texts = await Promise.all(parts.map(read))
    if (parts.every(([, text], n) => texts[n] === text)) return true
  }
  return false
}

/** Whatever is there of it stays, but for what says how it is kept. */
export async function writeParts(files: FileSystem, vault: string, algorithm: Algorithm): Promise<void> {
  const folders = ['objects/pack', 'objects/info', branchRefs, taskRefs, 'info'].map((name) =>
    path.join(vault, name),
  )
  for (const folder of [...folders, taskFoldersIn(vault), scratchIn(vault)])
    await files.makeFolder(folder, 0o700)
  for (const [name, text] of ownParts(algorithm))
    await files.writeDurable(path.join(vault, name), Buffer.from(text), 0o600)
  await files.sync([vault, path.join(vault, 'info'), path.dirname(vault)])
}
