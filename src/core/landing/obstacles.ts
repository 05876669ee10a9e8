/**
 * Finds obstacles to files that are about to be written, which neither the base nor the agent knows: symlinks, folders,
 * special files, nested repositories, names that differ only in case.
 */
import path from 'node:path'
import { following } from '../base/watch.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import type { Conflict, Found, Leaf, LeafChange } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { Work } from '../tasks/work.ts'

type Planned = ReadonlyMap<BytePath, LeafChange>

/** The entries of the checkout at the planned paths, above them and below them. */
export interface Surroundings {
  readonly found: ReadonlyMap<BytePath, Found>
  /** The blocking paths that are symlinks. */
  readonly links: ReadonlySet<BytePath>
  /** For each folder at a planned path, every file below it. */
  readonly below: ReadonlyMap<BytePath, readonly BytePath[]>
  /** Folders above new files that have a git of their own. */
  readonly repositories: readonly BytePath[]
  /** For each folder that gets a new file, the names in it. */
  readonly names: ReadonlyMap<BytePath, readonly string[]>
}

/** The leaf with the permission bits of the file, so that an undo restores them. */
export function withPermissions(leaf: Leaf | null, there: Found | undefined): Leaf | null {
  return leaf && there?.kind === 'file' ? { ...leaf, permissions: there.permissions } : leaf
}

/** Old and new leaf by path: contents that the vault has, so a capture need not store them again. */
export function knownOf(changes: Planned): Map<BytePath, (Leaf | null)[]> {
  return new Map(Array.from(changes, ([file, { from, to }]) => [file, [from, to]]))
}

export async function readSurroundings(
  work: Omit<Work, 'task'>,
  checkout: string,
  planned: Planned,
  seen: ReadonlyMap<BytePath, Found> = new Map(),
): Promise<Surroundings> {
  const { ports, repo } = work
  const unseen = [...planned.keys()].filter((file) => !seen.has(file))
  const known = knownOf(planned)
  const found = new Map([
    ...seen,
    ...(await ports.contents.capture(repo, checkout, unseen, known, following(work, 'checking'))),
  ])
  const links = new Set<BytePath>()
  const below = new Map<BytePath, readonly BytePath[]>()
  for (const [file, { to }] of planned) {
    const there = found.get(file)
    if (!there) continue
    if (to && there.kind === 'folder') below.set(file, await ports.checkouts.readFilesBelow(checkout, file))
    if (there.kind !== 'gone' || there.blockedBy === undefined) continue
    const blocking = (await ports.contents.capture(repo, checkout, [there.blockedBy])).get(there.blockedBy)
    if (blocking?.kind === 'file' && blocking.leaf.mode === '120000') links.add(there.blockedBy)
  }
  const names = new Map<BytePath, readonly string[]>()
  for (const folder of new Set(newFiles(planned).map(folderOf)))
    names.set(folder, await ports.checkouts.readNames(checkout, folder))
  return { found, links, below, names, repositories: await readRepositories(ports, checkout, planned) }
}

/** The conflicts with the surroundings. Pure. */
export function obstacles(planned: Planned, around: Surroundings): Conflict[] {
  const goes = (file: BytePath) => planned.get(file)?.to === null
  const conflicts = new Map<BytePath, Conflict['kind']>()
  for (const [file, { to }] of planned) {
    const there = around.found.get(file)
    if (there?.kind === 'special') conflicts.set(file, 'untracked')
    if (there?.kind === 'gone' && there.blockedBy !== undefined && !goes(there.blockedBy)) {
      // A file below a link that leads elsewhere is not the one that was deleted.
      if (around.links.has(there.blockedBy)) conflicts.set(there.blockedBy, 'symlink')
      else if (to) conflicts.set(there.blockedBy, 'untracked')
    }
    if (there?.kind === 'folder' && to)
      for (const kept of around.below.get(file) ?? []) if (!goes(kept)) conflicts.set(kept, 'untracked')
  }
  // A new file must not end up in a nested repository.
  for (const folder of around.repositories) conflicts.set(folder, 'untracked')
  for (const file of caseRivals(planned, around)) conflicts.set(file, 'case')
  return Array.from(conflicts, ([file, kind]) => ({ path: toText(file), kind }))
}

/** On some systems two names that differ only in case are one file. */
function caseRivals(planned: Planned, { names }: Surroundings): BytePath[] {
  return newFiles(planned).filter((file) => {
    const folder = folderOf(file)
    const prefix = folder === '' ? '' : `${folder}/`
    const name = file.slice(prefix.length)
    const rival = names
      .get(folder)
      ?.find((other) => other !== name && other.toLowerCase() === name.toLowerCase())
    return rival !== undefined && planned.get(prefix + rival)?.to !== null
  })
}

async function readRepositories(
  ports: Pick<Ports, 'files'>,
  checkout: string,
  planned: Planned,
): Promise<BytePath[]> {
  const folders = new Set<BytePath>()
  for (const file of newFiles(planned)) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      if (folders.has(file.slice(0, end))) break
      folders.add(file.slice(0, end))
    }
  }
  const found: BytePath[] = []
  const real = new Set<BytePath>([''])
  for (const folder of [...folders].sort((one, other) => one.length - other.length)) {
    // A symlink on the way is an obstacle of its own.
    if (!real.has(folderOf(folder))) continue
    const at = path.join(checkout, toText(folder))
    if ((await ports.files.readKind(at)) !== 'folder') continue
    real.add(folder)
    if ((await ports.files.readKind(path.join(at, '.git'))) !== undefined) found.push(folder)
  }
  return found
}

function newFiles(planned: Planned): BytePath[] {
  return Array.from(planned).flatMap(([file, { from, to }]) => (from === null && to !== null ? [file] : []))
}

function folderOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}
