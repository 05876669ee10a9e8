/** The files and the index of an operation: staged beside the checkout first, then renamed into place. */
import path from 'node:path'
import { allEnded, eachOf } from '../base/concurrency.ts'
import { following } from '../base/watch.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { conflictError } from '../model/errors.ts'
import type { Follow } from '../model/progress.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove, IndexPart, Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Found, Leaf } from '../model/tree.ts'
import { operationFolder } from '../model/layout.ts'
import type { HeldFolder } from '../ports/held.ts'
import type { Ports } from '../ports/index.ts'
import type { Work } from '../tasks/work.ts'
import { repeatHint } from './refs.ts'

/** The hint where the undo meets what came after the operation. */
export const overlaps = 'What came later overlaps: take that back first.'

/** The staging folder, in the checkout's git folder, on the same file system. */
export function stagingFolder(repo: Repo, operation: Operation): string {
  const gitDir = operation.index?.gitDir ?? repo.place.gitDir
  return operationFolder(gitDir, operation.id)
}

/** The files of an operation below one folder. */
interface Part {
  readonly folder: string
  readonly moves: readonly FileMove[]
  /** Whether permissions count as well as modes: files of the git folder are private, or not, for a reason. */
  readonly exact: boolean
  /** Distinguishes its staged files from those of other parts. */
  readonly key: string
}

function partsOf({ files, strays = [] }: Partial<Operation>): Part[] {
  return [
    ...(files ? [{ folder: files.checkout, moves: files.moves, exact: false, key: '' }] : []),
    ...strays.map((part, n) => ({ ...part, exact: true, key: `stray-${n}-` })),
  ]
}

function stagedFile(staging: string, { key }: Part, index: number): string {
  return path.join(staging, `${key}${index}`)
}

/** What a run changed is there already, so that its operation writes none of it (docs/adr/0043-strays-are-kept.md). */
export function isOnlyRecorded({ verb }: Operation): boolean {
  return verb === 'run'
}

/**
 * Writes every new file to the disk before any is renamed into place, so a full disk fails here. Throws when the user has
 * changed a file since the plan was made.
 */
export async function stage(work: Work, operation: Operation): Promise<void> {
  const { ports, repo, signal } = work
  const [parts, { index: indexMove }] = [partsOf(operation), operation]
  if (isOnlyRecorded(operation) || (parts.length === 0 && !indexMove)) return
  const staging = stagingFolder(repo, operation)
  await ports.files.makeFolder(staging, 0o700)
  await makeFolders(ports, operation)
  if (indexMove) await ports.checkouts.lockIndex(indexMove.gitDir, staging)
  if (indexMove && 'to' in indexMove) {
    await requireIndex(ports, repo, indexMove.gitDir, indexMove.from)
    await ports.contents.exportFile(repo, indexMove.to, path.join(staging, 'index'))
  }
  const written: string[] = indexMove && 'to' in indexMove ? [path.join(staging, 'index')] : []
  const onEach = countMoves(parts, following(work, 'staging'))
  for (const part of parts) {
    const stageOne = async ([index, { to }]: [number, FileMove]) => {
      if (!to || to.mode === '160000') return
      await ports.contents.exportFile(repo, to, stagedFile(staging, part, index))
      if (to.mode !== '120000') written.push(stagedFile(staging, part, index))
    }
    await eachOf(part.moves.entries(), 8, stageOne, { signal, onEach })
  }
  await allEnded([
    ports.durable.sync([...written, staging, path.dirname(staging)], signal),
    ...parts.map((part) => requireUnchanged(ports, repo, part, following(work, 'checking'))),
  ])
}

/** Counts the files of all parts as one. */
function countMoves(parts: readonly Part[], { count }: Follow): (() => void) | undefined {
  return count?.(parts.reduce((sum, { moves }) => sum + moves.length, 0))
}

/** An agent may have deleted the folder of hooks whose files come back. Before any ref moves, since this may fail. */
export async function makeFolders(ports: Pick<Ports, 'files'>, operation: Operation): Promise<void> {
  if (isOnlyRecorded(operation)) return
  for (const { folder, exact } of partsOf(operation)) if (exact) await ports.files.makeFolder(folder)
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
  throw conflictError([{ path: path.join(gitDir, 'index'), kind: 'changed' }], overlaps)
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
  part: Part,
  follow?: Follow,
  hint = repeatHint,
): Promise<void> {
  const now = await captureFound(ports, repo, part, undefined, follow)
  const conflicts = part.moves.filter(({ path: file, from }) => !isStill(now.get(file), from, part))
  if (conflicts.length > 0)
    throw conflictError(
      conflicts.map(({ path: file }) => ({ path: toText(file), kind: 'changed' })),
      hint,
      part.folder,
    )
}

/** Throws when somebody has changed what a run left beside its workspace. */
export async function requireStrays(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  { strays }: Operation,
  hint: string,
): Promise<void> {
  for (const part of partsOf({ strays })) await requireUnchanged(ports, repo, part, undefined, hint)
}

/** Whether any file has been renamed into place already. */
export async function isBegun(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  operation: Operation,
): Promise<boolean> {
  for (const part of partsOf(operation)) {
    const now = await captureFound(ports, repo, part)
    const isPlaced = ({ path: file, from, to }: FileMove) =>
      isStill(now.get(file), to, part) && !isStill(now.get(file), from, part)
    if (part.moves.some(isPlaced)) return true
  }
  return false
}

/** Reads the files at the paths of the moves; contents that the vault has are not stored again. */
function captureFound(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  { folder, moves }: Part,
  held?: HeldFolder,
  follow?: Follow,
) {
  const known = new Map(moves.map(({ path: file, from, to }) => [file, [from, to]]))
  return ports.contents.capture(repo, held ?? folder, known.keys(), known, follow)
}

/** Whether the path still is as planned. For a new file a folder is fine: the plan moves its files away. */
function isStill(found: Found | undefined, leaf: Leaf | null, { exact }: Pick<Part, 'exact'>): boolean {
  if (leaf === null) return found?.kind !== 'file' && found?.kind !== 'special'
  // A submodule that was never fetched is an empty folder.
  if (leaf.mode === '160000') return found?.kind === 'folder'
  if (found?.kind !== 'file' || !isSame(found.leaf, leaf)) return false
  return !exact || leaf.permissions === undefined || leaf.permissions === found.permissions
}

/** The folders that an operation writes to, by their path. */
export type HeldFolders = ReadonlyMap<string, HeldFolder>

/** Holds the folders open while files of the operation are written there, and closes them whatever happens. */
export async function withFolders<T>(
  ports: Pick<Ports, 'files'>,
  operation: Operation,
  work: (held: HeldFolders) => Promise<T>,
): Promise<T> {
  const held = new Map<string, HeldFolder>()
  try {
    for (const { folder } of isOnlyRecorded(operation) ? [] : partsOf(operation))
      held.set(folder, ports.files.hold(folder))
    return await work(held)
  } finally {
    for (const folder of held.values()) folder.close()
  }
}

/** Files are placed without a signal: it is too late to cancel. */
type PlaceWork = Pick<Work, 'ports' | 'repo' | 'watch'>

/**
 * Deletes first, because a folder may replace a file. Answers the paths that somebody changed meanwhile. A folder that was
 * written to before must be the same one now (docs/adr/0038-folders-held-open.md).
 */
export async function placeFiles(
  work: PlaceWork,
  operation: Operation,
  staging: string,
  held: HeldFolders,
): Promise<string[]> {
  const left: string[] = []
  const parts = partsOf(operation)
  const onEach = countMoves(parts, following(work, 'writing'))
  for (const part of parts) {
    const folder = held.get(part.folder)
    if (folder) left.push(...(await placePart(work, part, staging, folder, onEach)))
  }
  return left
}

async function placePart(
  { ports, repo }: PlaceWork,
  part: Part,
  staging: string,
  held: HeldFolder,
  onEach: (() => void) | undefined,
): Promise<string[]> {
  const { moves } = part
  const now = await captureFound(ports, repo, part, held)
  const left: string[] = []
  const order = [...moves.entries()].sort(([, a], [, b]) => Number(a.to !== null) - Number(b.to !== null))
  const folders = new Set<string>()
  const placeAt = async (index: number, file: BytePath, to: Leaf | null, seen: string | undefined) => {
    if (!to) return ports.checkouts.removeFile(held, file, seen)
    const staged = await stageAgain(ports, repo, to, stagedFile(staging, part, index))
    return ports.checkouts.place(staged, held, file, to, seen)
  }
  const placeOne = async ([index, { path: file, from, to }]: [number, FileMove]) => {
    const found = now.get(file)
    if (isStill(found, to, part)) return
    const folder = isStill(found, from, part) ? await placeAt(index, file, to, lookAt(found)) : undefined
    // Both versions are in the vault; the user's own stays where it is.
    if (folder === undefined) left.push(toText(file))
    else folders.add(folder)
  }
  await eachOf(order, 1, placeOne, { onEach })
  await ports.durable.sync(await stillThere(ports, folders))
  return left
}

function lookAt(found: Found | undefined): string | undefined {
  return found?.kind === 'file' ? found.look : undefined
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

/** Durable in the end, as the files are: an old index beside a new commit would show the landing as taken back. */
export async function moveIndex(
  { checkouts, durable }: Pick<Ports, 'checkouts' | 'durable'>,
  index: IndexPart,
  staging: string,
): Promise<void> {
  if ('moves' in index) await checkouts.changeIndex(index.gitDir, index.moves, staging)
  else await checkouts.placeIndex(index.gitDir, staging)
  await durable.sync([index.gitDir])
}
