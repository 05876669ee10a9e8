/** Landing as uncommitted, unstaged changes: three ways from the recorded base, whatever the user has done since. */
import path from 'node:path'
import { type BytePath, fromText, toText } from '../bytes.ts'
import { mergeStored } from './merge-stored.ts'
import type { Offer } from './offer.ts'
import type { FileMove, Operation } from '../operation.ts'
import type { Conflict, Found, Leaf, LeafChange, Ports, RefChange, Repo } from '../ports.ts'
import type { Goal } from '../shadow.ts'
import type { Task } from '../task.ts'

/** What an accept would do to the target, or why it cannot. */
export interface Landing extends Pick<Operation, 'files' | 'index' | 'head'> {
  readonly conflicts: readonly Conflict[]
  /** Those that it would write into the files as markers, for the user to solve. */
  readonly marked?: readonly Conflict[] | undefined
  readonly refs: readonly RefChange[]
  readonly onto: string | undefined
  /** What the branch will hold: for a task that works in the checkout of that branch. */
  readonly goal?: Goal | undefined
  readonly told: Told
  /** What is done elsewhere, before anything is done here; that cannot be undone. */
  readonly reach?: () => Promise<Told>
  /** What follows when it has landed, and can no longer fail it. */
  readonly after?: () => Promise<void>
}

interface Told {
  readonly onto?: string
  readonly commit?: string
  readonly url?: string
}

export async function planPatch(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  markers: boolean,
  signal?: AbortSignal,
): Promise<Landing> {
  const checkout = repo.place.checkout ?? task.origin
  const { base, theirs } = offer
  const changes = await ports.contents.compare(repo, base, theirs)
  const concerned = [...changes.keys()]
  const found = await ports.contents.take(repo, checkout, concerned, knownOf(changes))
  const leftOut = await readLeftOut(ports, repo, task, offer, checkout, changes, found)
  const present = new Map([...presentOf(found), ...leftOut])
  let ours = await ports.contents.change(repo, base, present)
  // Most often the user has touched none of these files: then there is nothing to merge, and no rule to ask for.
  const attributes =
    ours === base ? undefined : await ports.checkouts.readMergeRules(checkout, repo.place.gitDir, concerned)
  const sides = { base, theirs, labels: ['yours', task.id] as const, attributes }
  let merged = await ports.contents.merge(repo, { ...sides, ours }, signal)
  if (merged.conflicts.length > 0) {
    // A file that the user renamed looks deleted as long as only the concerned paths are looked at.
    // What is ignored is not among all, but it may be in the way: what was found at those paths counts.
    const all = await ports.contents.change(
      repo,
      await ports.contents.takeAll(repo, checkout, signal),
      present,
    )
    const again = await ports.contents.merge(repo, { ...sides, ours: all }, signal)
    if (again.conflicts.length === 0) [ours, merged] = [all, again]
    else merged = await mergeStored(ports, repo, task, checkout, { ...sides, ours }, merged, signal)
  }
  const planned = await ports.contents.compare(repo, ours, merged.tree)
  const moves = Array.from(planned, ([file, { from, to }]): FileMove => {
    return { path: file, from: leftOut.has(file) ? null : asFound(from, found.get(file)), to }
  })
  const inTheWay = await obstacles(ports, repo, checkout, planned, found)
  // Of what is not there anyway, only a commit can say that it is deleted.
  for (const { path: file, to } of moves)
    if (leftOut.has(file) && to === null) inTheWay.push({ path: toText(file), kind: 'delete/modify' })
  const conflicts = await named(ports, repo, found, merged.conflicts)
  const marked = markers ? await markable(ports, repo, merged.tree, conflicts) : []
  return {
    conflicts: [...conflicts.filter((conflict) => !marked.includes(conflict)), ...inTheWay],
    marked,
    refs: [],
    files: { checkout, moves },
    onto: undefined,
    told: {},
  }
}

/** Of what is no text, and of what is there on one side only, git keeps one side: nothing in it shows the other. */
async function markable(
  { contents }: Ports,
  repo: Repo,
  merged: string,
  conflicts: readonly Conflict[],
): Promise<Conflict[]> {
  const marked: Conflict[] = []
  for (const conflict of conflicts) {
    if (conflict.kind !== 'content' && conflict.kind !== 'add/add') continue
    const leaf = await contents.findLeaf(repo, merged, fromText(conflict.path))
    if (!leaf?.mode.startsWith('100')) continue
    const content = (await contents.readContent(repo, leaf)).toString('latin1')
    if (/^<{7} yours(:.*)?$[^]*^={7}$[^]*^>{7} /m.test(content)) marked.push(conflict)
  }
  return marked
}

/** With its permissions: an undo brings it back just so. */
export function asFound(leaf: Leaf | null, there: Found | undefined): Leaf | null {
  return leaf && there?.kind === 'file' ? { ...leaf, permissions: there.permissions } : leaf
}

function knownOf(changes: ReadonlyMap<BytePath, LeafChange>) {
  return new Map(Array.from(changes, ([file, { from, to }]) => [file, [from, to]]))
}

function presentOf(found: ReadonlyMap<BytePath, Found>): Map<BytePath, LeafChange['to']> {
  return new Map(Array.from(found, ([file, there]) => [file, there.kind === 'file' ? there.leaf : null]))
}

/** What a sparse checkout leaves out, as it would lie there: it is unchanged, not deleted. */
async function readLeftOut(
  ports: Ports,
  repo: Repo,
  task: Task,
  { first }: Offer,
  checkout: string,
  changes: ReadonlyMap<BytePath, LeafChange>,
  found: ReadonlyMap<BytePath, Found>,
): Promise<Map<BytePath, Leaf>> {
  const leftOut = new Map<BytePath, Leaf>()
  const { gitDir } = repo.place
  // Most often what is not there is new, and nothing is left out: then there is nothing to ask for.
  const isSparse = (await ports.files.readKind(path.join(gitDir, 'info', 'sparse-checkout'))) !== undefined
  const gone = [...changes].flatMap(([file, { from }]) =>
    found.get(file)?.kind === 'gone' && (from || isSparse) ? [file] : [],
  )
  if (gone.length === 0) return leftOut
  const start = await ports.vault.readTree(repo, task.base.commit)
  for (const [file, entry] of await ports.checkouts.readTracked(gitDir, gone)) {
    if (!entry.isLeftOut || !found.has(file)) continue
    const stored = await ports.contents.findLeaf(repo, start, file)
    const known = stored?.oid === entry.oid && stored.mode === entry.mode
    const raw = known ? await ports.contents.findLeaf(repo, first.tree, file) : undefined
    leftOut.set(file, raw ?? (await ports.vault.smudge(repo, task, checkout, file, entry)))
  }
  return leftOut
}

/** A file that git does not know is not a side of a merge: it is in the way. */
async function named(
  ports: Ports,
  repo: Repo,
  found: ReadonlyMap<BytePath, Found>,
  conflicts: readonly Conflict[],
): Promise<readonly Conflict[]> {
  if (conflicts.length === 0) return conflicts
  const tracked = await ports.checkouts.readTracked(repo.place.gitDir, [...found.keys()])
  const known = new Set(Array.from(tracked.keys(), toText))
  return conflicts.map((conflict) =>
    conflict.kind === 'add/add' && !known.has(conflict.path) ? { ...conflict, kind: 'untracked' } : conflict,
  )
}

/** Things that are neither of the base nor of the agent: links, folders, special files, names that differ only in case. */
export async function obstacles(
  ports: Ports,
  repo: Repo,
  checkout: string,
  planned: ReadonlyMap<BytePath, LeafChange>,
  seen: ReadonlyMap<BytePath, Found> = new Map(),
): Promise<Conflict[]> {
  const unseen = [...planned.keys()].filter((file) => !seen.has(file))
  const found = new Map([...seen, ...(await ports.contents.take(repo, checkout, unseen, knownOf(planned)))])
  const goes = (file: BytePath) => planned.get(file)?.to === null
  const isLink = async (file: BytePath) => {
    const blocking = (await ports.contents.take(repo, checkout, [file])).get(file)
    return blocking?.kind === 'file' && blocking.leaf.mode === '120000'
  }
  const conflicts = new Map<BytePath, Conflict['kind']>()
  for (const [file, { to }] of planned) {
    const there = found.get(file)
    if (there?.kind === 'special') conflicts.set(file, 'untracked')
    if (there?.kind === 'gone' && there.blockedBy !== undefined && to && !goes(there.blockedBy)) {
      conflicts.set(there.blockedBy, (await isLink(there.blockedBy)) ? 'symlink' : 'untracked')
    }
    if (there?.kind === 'folder' && to) {
      const inside = await ports.checkouts.readFilesBelow(checkout, file)
      for (const kept of inside) if (!goes(kept)) conflicts.set(kept, 'untracked')
    }
  }
  for (const folder of await repositories(ports, checkout, planned)) conflicts.set(folder, 'untracked')
  for (const file of await caseRivals(ports, checkout, planned)) conflicts.set(file, 'case')
  return Array.from(conflicts, ([file, kind]) => ({ path: toText(file), kind }))
}

/** Folders with a git of their own: what is new must not end up in another repository. */
async function repositories(
  ports: Ports,
  checkout: string,
  planned: ReadonlyMap<BytePath, LeafChange>,
): Promise<BytePath[]> {
  const folders = new Set<BytePath>()
  for (const [file, { from, to }] of planned) {
    if (from !== null || to === null) continue
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      if (folders.has(file.slice(0, end))) break
      folders.add(file.slice(0, end))
    }
  }
  const found: BytePath[] = []
  const real = new Set<BytePath>([''])
  for (const folder of [...folders].sort((one, other) => one.length - other.length)) {
    // A link in the way is told of by itself.
    const above = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
    if (!real.has(above)) continue
    const at = path.join(checkout, toText(folder))
    if ((await ports.files.readKind(at)) !== 'folder') continue
    real.add(folder)
    if ((await ports.files.readKind(path.join(at, '.git'))) !== undefined) found.push(folder)
  }
  return found
}

/** On some systems two names that differ only in case are one file. */
async function caseRivals(
  ports: Ports,
  checkout: string,
  planned: ReadonlyMap<BytePath, LeafChange>,
): Promise<BytePath[]> {
  const rivals: BytePath[] = []
  const listed = new Map<BytePath, string[]>()
  for (const [file, { from, to }] of planned) {
    if (from !== null || to === null) continue
    const slash = file.lastIndexOf('/')
    const [folder, name] = [file.slice(0, Math.max(0, slash)), file.slice(slash + 1)]
    const names = listed.get(folder) ?? (await ports.checkouts.readNames(checkout, folder))
    listed.set(folder, names)
    const prefix = folder === '' ? '' : `${folder}/`
    const rival = names.find((other) => other !== name && other.toLowerCase() === name.toLowerCase())
    if (rival !== undefined && planned.get(prefix + rival)?.to !== null) rivals.push(file)
  }
  return rivals
}
