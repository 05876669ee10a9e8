/** The files and the index of an operation: staged beside the checkout first, then renamed into place. */
import path from 'node:path'
import { allEnded, eachOf } from '../base/concurrency.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { conflictError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove, IndexPart, Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Found, Leaf } from '../model/tree.ts'
import { operationFolder } from '../model/layout.ts'
import type { HeldFolder } from '../ports/held.ts'
import type { Ports } from '../ports/index.ts'

/** The staging folder, in the checkout's git folder, on the same file system. */
export function stagingFolder(repo: Repo, operation: Operation): string {
  const gitDir = operation.index?.gitDir ?? repo.place.gitDir
  return operationFolder(gitDir, operation.id)
}

function stagedFile(staging: string, index: number): string {
  return path.join(staging, String(index))
}

/**
 * Writes every new file to the disk before any is renamed into place, so a full disk fails here. Throws when the user has
 * changed a file since the plan was made.
 */
export async function stage(ports: Ports, repo: Repo, operation: Operation): Promise<void> {
  if (!operation.files) return
  const staging = stagingFolder(repo, operation)
  await ports.files.makeFolder(staging, 0o700)
  const { index: indexMove } = operation
  if (indexMove) await ports.checkouts.lockIndex(indexMove.gitDir, staging)
  if (indexMove && 'to' in indexMove) {
    await requireIndex(ports, repo, indexMove.gitDir, indexMove.from)
    await ports.contents.exportFile(repo, indexMove.to, path.join(staging, 'index'))
  }
  const written: string[] = indexMove && 'to' in indexMove ? [path.join(staging, 'index')] : []
  await eachOf(operation.files.moves.entries(), 8, async ([index, { to }]) => {
    if (!to || to.mode === '160000') return
    await ports.contents.exportFile(repo, to, stagedFile(staging, index))
    if (to.mode !== '120000') written.push(stagedFile(staging, index))
  })
  await allEnded([
    ports.durable.sync([...written, staging, path.dirname(staging)]),
    requireUnchanged(ports, repo, operation.files),
  ])
}

/** Throws unless the index has the expected entries. Their stat data may differ, because every `git status` updates it. */
export async function requireIndex(
  ports: Pick<Ports, 'contents' | 'indexes'>,
  repo: Repo,
  gitDir: string,
  expected: Leaf,
): Promise<void> {
  const { contents, indexes } = ports
  const found = (await contents.capture(repo, gitDir, ['index'])).get('index')
  if (found?.kind === 'file') {
    if (found.leaf.oid === expected.oid) return
    const [now, then] = [
      await indexes.findIndexTree(repo, found.leaf),
      await indexes.findIndexTree(repo, expected),
    ]
    if (now !== undefined && now === then) return
  }
  throw conflictError([{ path: path.join(gitDir, 'index'), kind: 'changed' }])
}

/** Entries of the index that differ from the `from` of their move. */
export async function otherEntries(
  ports: Pick<Ports, 'checkouts'>,
  { gitDir, moves }: { readonly gitDir: string; readonly moves: readonly FileMove[] },
): Promise<BytePath[]> {
  const paths = moves.map((move) => move.path)
  const tracked = await ports.checkouts.readTracked(gitDir, paths)
  return moves.filter(({ path: file, from }) => !isSame(tracked.get(file), from)).map((move) => move.path)
}

async function requireUnchanged(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  files: NonNullable<Operation['files']>,
): Promise<void> {
  const now = await captureFound(ports, repo, files)
  const conflicts = files.moves.filter(({ path: file, from }) => !isStill(now.get(file), from))
  if (conflicts.length > 0)
    throw conflictError(conflicts.map(({ path: file }) => ({ path: toText(file), kind: 'changed' })))
}

/** Whether any file has been renamed into place already. */
export async function isBegun(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  { files }: Operation,
): Promise<boolean> {
  if (!files) return false
  const now = await captureFound(ports, repo, files)
  return files.moves.some(({ path: file, from, to }) => {
    const found = now.get(file)
    return isStill(found, to) && !isStill(found, from)
  })
}

/** Reads the files at the paths of the moves; contents that the vault has are not stored again. */
function captureFound(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  { checkout, moves }: NonNullable<Operation['files']>,
  held?: HeldFolder,
) {
  const known = new Map(moves.map(({ path: file, from, to }) => [file, [from, to]]))
  return ports.contents.capture(repo, held ?? checkout, known.keys(), known)
}

/** Whether the path still is as planned. For a new file a folder is fine: the plan moves its files away. */
function isStill(found: Found | undefined, leaf: Leaf | null): boolean {
  if (leaf === null) return found?.kind !== 'file' && found?.kind !== 'special'
  // A submodule that was never fetched is an empty folder.
  if (leaf.mode === '160000') return found?.kind === 'folder'
  return found?.kind === 'file' && isSame(found.leaf, leaf)
}

/** Holds the checkout open while files of the operation are written there, and closes it whatever happens. */
export async function withCheckout<T>(
  ports: Pick<Ports, 'files'>,
  { files }: Operation,
  work: (held: HeldFolder | undefined) => Promise<T>,
): Promise<T> {
  const held = files && ports.files.hold(files.checkout)
  try {
    return await work(held)
  } finally {
    held?.close()
  }
}

/**
 * Deletes first, because a folder may replace a file. Answers the paths that somebody changed meanwhile. A folder that was
 * written to before must be the same one now (docs/adr/0042-folders-held-open.md).
 */
export async function placeFiles(
  ports: Ports,
  repo: Repo,
  { files }: Operation,
  staging: string,
  held: HeldFolder | undefined,
): Promise<string[]> {
  if (!files || !held) return []
  const { moves } = files
  const now = await captureFound(ports, repo, files, held)
  const left: string[] = []
  const order = [...moves.entries()].sort(([, a], [, b]) => Number(a.to !== null) - Number(b.to !== null))
  const folders = new Set<string>()
  for (const [index, { path: file, from, to }] of order) {
    const found = now.get(file)
    if (isStill(found, to)) continue
    // Both versions are in the vault; the user's own stays where it is.
    if (!isStill(found, from)) left.push(toText(file))
    else if (to) {
      const staged = await stageAgain(ports, repo, to, stagedFile(staging, index))
      folders.add(await ports.checkouts.place(staged, held, file, to))
    } else folders.add(await ports.checkouts.removeFile(held, file))
  }
  await ports.durable.sync(await stillThere(ports, folders))
  return left
}

/** Writes a staged file again from the vault, if somebody deleted the staging folder after a crash. */
async function stageAgain(
  ports: Pick<Ports, 'contents' | 'durable' | 'files'>,
  repo: Repo,
  leaf: Leaf,
  staged: string,
): Promise<string> {
  if (leaf.mode === '160000' || (await ports.files.readKind(staged)) !== undefined) return staged
  await ports.files.makeFolder(path.dirname(staged), 0o700)
  await ports.contents.exportFile(repo, leaf, staged)
  if (leaf.mode !== '120000') await ports.durable.sync([staged])
  return staged
}

/** The folders to sync; for a folder that was deleted with its last file, its nearest existing parent. */
async function stillThere(ports: Pick<Ports, 'files'>, folders: Iterable<string>): Promise<string[]> {
  const there = new Set<string>()
  for (let folder of folders) {
    while ((await ports.files.readKind(folder)) !== 'folder') folder = path.dirname(folder)
    there.add(folder)
  }
  return [...there]
}

export async function moveIndex(
  { checkouts }: Pick<Ports, 'checkouts'>,
  index: IndexPart,
  staging: string,
): Promise<void> {
  if ('moves' in index) await checkouts.changeIndex(index.gitDir, index.moves, staging)
  else await checkouts.placeIndex(index.gitDir, staging)
}
