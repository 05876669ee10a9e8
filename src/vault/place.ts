/** The places of a vault's files, and its making (docs/adr/0006-vault-is-a-repository-of-its-own.md). */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { FileSystem } from '../core/ports/files.ts'
import type { Repo, RepoRecord } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import { branchRefs, nowhereHead, taskRef, taskRefs } from '../core/model/refs.ts'
import { repoFile, scratchIn, taskFoldersIn, vaultFolder } from '../core/model/layout.ts'
import type { Algorithm } from './objects/objects.ts'

export interface VaultPlace {
  readonly vault: string
  /** The git folder of the user's repository. */
  readonly commonDir: string
  /** The user's object folder, which we only read. */
  readonly alternates: readonly string[]
  /** The user's own ignore list of this repository, `info/exclude`. */
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

/** A power cut can leave a ref file that is empty. */
export function isObject(text: string | undefined): text is string {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

/** A user who runs `git gc` in the vault moves its refs into `packed-refs`. */
export async function readRef(files: FileSystem, vault: string, ref: string): Promise<string | undefined> {
  const loose = await files.readText(path.join(vault, ref))
  if (loose !== undefined) return loose.trim()
  const packed = (await files.readText(path.join(vault, 'packed-refs'))) ?? ''
  return new RegExp(`^([0-9a-f]+) ${ref}$`, 'm').exec(packed)?.[1]
}

/** The names below `refs/<kind>/`, both loose and packed. */
export async function readRefNames(files: FileSystem, vault: string, above: string): Promise<string[]> {
  const loose = await files.readNames(path.join(vault, above))
  const packed = (await files.readText(path.join(vault, 'packed-refs'))) ?? ''
  const listed = Array.from(packed.matchAll(/^[0-9a-f]+ (refs\/\S+)$/gm), ([, ref = '']) => ref)
    .filter((ref) => ref.startsWith(`${above}/`))
    .map((ref) => ref.slice(`${above}/`.length))
  return [...new Set([...loose, ...listed])].filter((name) => /^[0-9a-z]{20}$/.test(name)).toSorted()
}

/** The object format that the repository's config names; if the repository is gone, that of its vault. */
export async function readAlgorithm(files: FileSystem, repo: Repo, vault: string): Promise<Algorithm> {
  const config =
    (await files.readText(path.join(repo.commonDir, 'config'))) ??
    (await files.readText(path.join(vault, 'config'))) ??
    ''
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 'sha256' : 'sha1'
}

/** Turns off every setting that could change a byte, and makes git sync its writes. */
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

/**
 * Checks of .gitmodules that fsck skips. The vault keeps such a file as it was written; the user's repository refuses
 * it.
 */
const unjudged = ['Blob', 'Large', 'Name', 'Parse', 'Path', 'Symlink', 'Update', 'Url'].map(
  (what) => `gitmodules${what}`,
)

/** Removes what killed processes left behind: copies of files, which may be big. */
export async function clearScratch(files: FileSystem, vault: string): Promise<void> {
  const scratch = scratchIn(vault)
  for (const name of await files.readNames(scratch)) {
    const pid = Number(/^(?:[a-z]+-)?(\d+)-/.exec(name)?.[1])
    if (Number.isNaN(pid) || isAlive(pid)) continue
    const found = await stat(path.join(scratch, name)).catch(() => undefined)
    // The process may run in another container, where we cannot see it: an hour is more than it needs.
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

/** Copies `shallow`, the end of a cut-off history: the vault reads the user's commits and must not look behind it. */
export async function copyShallow(files: FileSystem, from: string, to: string): Promise<void> {
  const [theirs, ours] = [path.join(from, 'shallow'), path.join(to, 'shallow')]
  const [text, known] = [await files.readText(theirs), await files.readText(ours)]
  if (text === known) return
  if (text === undefined) await files.remove(ours)
  else await files.write(ours, text, 0o600)
}

/** Makes a bare repository file by file. HEAD comes last: a vault with a HEAD is complete. */
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

/** Whether config, attributes and HEAD are as we write them. If so and git still fails, the cause lies elsewhere. */
export async function hasOwnParts(files: FileSystem, vault: string): Promise<boolean> {
  const read = ([name]: [string, string]) => files.readText(path.join(vault, name))
  for (const algorithm of ['sha1', 'sha256'] as const) {
    const parts = ownParts(algorithm)
    const texts = await Promise.all(parts.map(read))
    if (parts.every(([, text], n) => texts[n] === text)) return true
  }
  return false
}

/** Writes config, attributes and HEAD anew, makes missing folders, and leaves all other files alone. */
async function writeParts(files: FileSystem, vault: string, algorithm: Algorithm): Promise<void> {
  const folders = ['objects/pack', 'objects/info', branchRefs, taskRefs, 'info'].map((name) =>
    path.join(vault, name),
  )
  for (const folder of [...folders, taskFoldersIn(vault), scratchIn(vault)])
    await files.makeFolder(folder, 0o700)
  for (const [name, text] of ownParts(algorithm))
    await files.writeDurable(path.join(vault, name), Buffer.from(text), 0o600)
  await files.sync([vault, path.join(vault, 'info'), path.dirname(vault)])
}

/** Writes into the vault which repository it belongs to, unless it says so. */
export async function noteRepo(files: FileSystem, vault: string, repo: RepoRecord): Promise<void> {
  const { id, name, commonDir, mark, addedAt } = repo
  const text = `${JSON.stringify({ id, name, commonDir, mark, addedAt })}\n`
  const file = repoFile(vault)
  if ((await files.readText(file)) === text) return
  await files.writeDurable(file, Buffer.from(text), 0o600)
  await files.sync([vault])
}

/** Writes the vault's own files anew, and leaves objects and refs alone. */
export async function remakeVault(files: FileSystem, home: string, repo: Repo): Promise<void> {
  const { vault } = vaultPlace(home, repo)
  await writeParts(files, vault, await readAlgorithm(files, repo, vault))
  await noteRepo(files, vault, repo)
}
