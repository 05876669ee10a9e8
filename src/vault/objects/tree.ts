/** Git's tree objects: parsed, compared, and changed into new ones. The caller passes in reading and writing. */
import { type BytePath, fromBytes, toBytes } from '../../core/model/bytes.ts'
import { isSame } from '../../core/model/leaf.ts'
import type { Leaf, Mode } from '../../core/model/tree.ts'

export type { Leaf, Mode }

export interface TreeEntry {
  readonly name: BytePath
  readonly mode: Mode | '40000'
  readonly oid: string
}

type FileStatus = 'added' | 'modified' | 'deleted'

export interface FileChange {
  readonly path: BytePath
  readonly status: FileStatus
}

export function parseTree(content: Uint8Array, oidBytes: number): TreeEntry[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, space)
    const mode = bytes.toString('latin1', at, space).replace(/^0+/, '') as TreeEntry['mode']
    const end = nul + 1 + oidBytes
    entries.push({
      mode,
      name: fromBytes(bytes.subarray(space + 1, nul)),
      oid: bytes.toString('hex', nul + 1, end),
    })
    at = end
  }
  return entries
}

/** Sorted as git sorts: a folder's name counts as if a slash followed it. */
export function treeContent(entries: Iterable<TreeEntry>): Buffer {
  const key = (entry: TreeEntry) => (entry.mode === '40000' ? `${entry.name}/` : entry.name)
  const sorted = [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
  return Buffer.concat(
    sorted.flatMap(({ mode, name, oid }) => [toBytes(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  )
}

export interface TreeStore {
  /** The entries of a tree; null is the empty tree. */
  read(oid: string | null): Promise<readonly TreeEntry[]>
  write(entries: Iterable<TreeEntry>): Promise<string>
}

/** Changes by path; null deletes the file. */
export type Changes = ReadonlyMap<BytePath, Leaf | null>

export interface Changed {
  readonly tree: string
  /** The files that really differ, in path order. */
  readonly files: FileChange[]
}

/** The tree after the changes. Reads and writes only the folders on the way to them. */
export async function changeTree(store: TreeStore, tree: string | null, changes: Changes): Promise<Changed> {
  const files: FileChange[] = []
  const oid = await changeFolder(store, tree, changes, '', files)
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  if (files.length === 0 && tree !== null) return { tree, files }
  return { tree: oid ?? (await store.write([])), files }
}

/** The entry of a tree at a path: a file, a folder, or none. */
export async function findEntry(
  store: TreeStore,
  tree: string | null,
  path: BytePath,
): Promise<TreeEntry | undefined> {
  let folder = tree
  const parts = path.split('/')
  for (const [index, name] of parts.entries()) {
    const entry = (await store.read(folder)).find((candidate) => candidate.name === name)
    if (!entry || index === parts.length - 1) return entry
    if (entry.mode !== '40000') return undefined
    folder = entry.oid
  }
  return undefined
}

/** The entries of a folder, by name; a folder is null. Undefined when there is no such folder. */
export async function findEntries(
  store: TreeStore,
  tree: string,
  folder: BytePath,
): Promise<Map<BytePath, Leaf | null> | undefined> {
  const entry = folder === '' ? undefined : await findEntry(store, tree, folder)
  const oid = folder === '' ? tree : folderOf(entry)
  if (oid === null) return undefined
  return new Map((await store.read(oid)).map((inside) => [inside.name, leafOf(inside)]))
}

export async function findLeaf(
  store: TreeStore,
  tree: string | null,
  path: BytePath,
): Promise<Leaf | undefined> {
  return leafOf(await findEntry(store, tree, path)) ?? undefined
}

/** Every file that differs between two trees, before and after. Equal folders are not entered. */
export async function compareTrees(
  store: TreeStore,
  from: string | null,
  to: string | null,
  prefix: BytePath = '',
  found = new Map<BytePath, { from: Leaf | null; to: Leaf | null }>(),
): Promise<Map<BytePath, { from: Leaf | null; to: Leaf | null }>> {
  if (from === to) return found
  const before = new Map((await store.read(from)).map((entry) => [entry.name, entry]))
  const after = new Map((await store.read(to)).map((entry) => [entry.name, entry]))
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [a, b] = [before.get(name), after.get(name)]
    if (isSame(a, b)) continue
    const path = prefix + name
    const [fileA, fileB] = [leafOf(a), leafOf(b)]
    if (fileA || fileB) found.set(path, { from: fileA, to: fileB })
    const [folderA, folderB] = [folderOf(a), folderOf(b)]
    if (folderA !== null || folderB !== null) await compareTrees(store, folderA, folderB, `${path}/`, found)
  }
  return found
}

function leafOf(entry: TreeEntry | undefined): Leaf | null {
  return entry && entry.mode !== '40000' ? { mode: entry.mode, oid: entry.oid } : null
}

function folderOf(entry: TreeEntry | undefined): string | null {
  return entry?.mode === '40000' ? entry.oid : null
}

interface Group {
  leaf?: Leaf | null
  readonly inside: Map<BytePath, Leaf | null>
}

async function changeFolder(
  store: TreeStore,
  tree: string | null,
  changes: Changes,
  prefix: BytePath,
  files: FileChange[],
): Promise<string | null> {
  const entries = new Map((await store.read(tree)).map((entry) => [entry.name, entry]))
  let differs = false
  for (const [name, group] of byFirstPart(changes)) {
    const before = entries.get(name)
    const after = await changeEntry(store, before, name, group, prefix, files)
    if (isSame(before, after)) continue
    differs = true
    if (after) entries.set(name, after)
    else entries.delete(name)
  }
  if (!differs) return tree
  return entries.size === 0 ? null : store.write(entries.values())
}

async function changeEntry(
  store: TreeStore,
  before: TreeEntry | undefined,
  name: BytePath,
  { leaf, inside }: Group,
  prefix: BytePath,
  files: FileChange[],
): Promise<TreeEntry | undefined> {
  const path = prefix + name
  const wasFolder = before?.mode === '40000'
  const now: TreeEntry | undefined = leaf ? { name, ...leaf } : undefined
  // Deletions below a file that stays have nothing to delete.
  const grows = Array.from(inside.values()).some((file) => file !== null)
  if (wasFolder || (grows && !leaf)) {
    const oid = await changeFolder(store, wasFolder ? before.oid : null, inside, `${path}/`, files)
    if (now) {
      files.push({ path, status: 'added' })
      return now
    }
    if (before && !wasFolder) files.push({ path, status: 'deleted' })
    return oid === null ? undefined : { name, mode: '40000', oid }
  }
  if (leaf === undefined || isSame(before, now)) return before
  files.push({ path, status: !before ? 'added' : now ? 'modified' : 'deleted' })
  return now
}

function byFirstPart(changes: Changes): Map<BytePath, Group> {
  const groups = new Map<BytePath, Group>()
  for (const [path, leaf] of changes) {
    const slash = path.indexOf('/')
    const name = slash === -1 ? path : path.slice(0, slash)
    const group: Group = groups.get(name) ?? { inside: new Map() }
    groups.set(name, group)
    if (slash === -1) group.leaf = leaf
    else group.inside.set(path.slice(slash + 1), leaf)
  }
  return groups
}
