/** Strays: changes that were made during a run in the user's repository besides the branches of tasks (docs/adr/0043-strays-are-kept.md). */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import { quoted } from '../base/shell-quote.ts'
import type { Work } from '../tasks/work.ts'
import { toText } from '../model/bytes.ts'
import type { StrayChange } from '../model/events.ts'
import type { CheckoutChange } from '../model/checkout-look.ts'
import type { RefChange, RefMove, RefMoves, RefMovesInput } from '../model/git.ts'
import { entriesHash } from '../model/index-entries.ts'
import type { FileMove, Operation, StrayFiles } from '../model/operation.ts'
import { branchOf, branchOfHead, isOurs, strayPinsOf } from '../model/refs.ts'
import type { Surroundings, WatchedFile } from '../model/surroundings.ts'
import type { Leaf } from '../model/tree.ts'
import { isOnlyRecorded } from '../operations/files.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import { holdTask } from '../tasks/hold.ts'
import { changedKeys } from './config-keys.ts'

/** A change, with the file before and after it. */
export interface Stray {
  readonly change: StrayChange & { readonly kept: boolean }
  readonly from?: WatchedFile | undefined
  readonly to?: WatchedFile | undefined
  /** Of a file of the checkout. */
  readonly file?: { readonly checkout: string; readonly change: CheckoutChange } | undefined
}

interface Scope {
  /** The branches of tasks, which may change at any time, as may the refs of offshoot. */
  readonly branches: ReadonlySet<string>
  /** The user's checkout if the task works there: its index and the hooks that are among its files are the task's. */
  readonly shadow?: string | undefined
}

/** The changes between two readings. Pure. */
export function strays(before: Surroundings, after: Surroundings, scope: Scope): Stray[] {
  return [...refStrays(before.refs, after.refs, scope), ...fileStrays(before.files, after.files, scope)]
}

/**
 * Marks as not kept what operations of offshoot changed during the run: undoing the run would take back half of them. Pure.
 */
export function withoutOwn(found: readonly Stray[], operations: readonly Operation[]): Stray[] {
  const own = new Set(operations.filter((operation) => !isOnlyRecorded(operation)).flatMap(changedBy))
  return found.map((stray) => {
    return own.has(nameOf(stray)) ? { ...stray, change: { ...stray.change, kept: false } } : stray
  })
}

/** The full path of a file, or the name of a ref. */
function nameOf({ from, to, file, change }: Stray): string {
  if (file) return path.join(file.checkout, change.what)
  const watched = from ?? to
  return watched ? path.join(watched.folder, toText(watched.path)) : change.what
}

/** Of one run so many files of the checkout are told; of the rest only their number. */
const mostTold = 1_000

/** The changes of a checkout. Files in a folder of hooks are told as hooks. Pure. */
export function checkoutStrays(
  checkout: string,
  changes: readonly CheckoutChange[],
  hookFolders: readonly string[],
): Stray[] {
  const found = changes
    .filter(
      ({ path: file }) => !hookFolders.some((folder) => isBelow(path.join(checkout, toText(file)), folder)),
    )
    .map((change): Stray => {
      const { from, to } = change
      const kept = [from, to].every((side) => side === null || side.leaf !== undefined)
      const values = { before: from?.text ?? null, after: to?.text ?? null }
      return {
        change: { what: toText(change.path), where: 'checkout', ...values, kept },
        file: { checkout, change },
      }
    })
  if (found.length <= mostTold) return found
  const more = `${found.length - mostTold} more files`
  return [...found.slice(0, mostTold), untold(more, 'only the first are listed')]
}

/** A line of its own for what is not told. */
export function untold(what: string, why: string): Stray {
  return { change: { what, where: 'checkout', before: null, after: null, kept: false, why } }
}

/** The branches that moved, to ask git about them. Pure. */
export function movedBranches(found: readonly Stray[]): RefMovesInput['changes'] {
  return found.flatMap(({ change: { what, before, after, kept } }) =>
    kept && branchOf(what) !== undefined ? [{ ref: what, before, after }] : [],
  )
}

/**
 * Adds the commits of branches, and leaves to the user what the user may have done: a branch that the run did not provably
 * move, and with it the HEAD and the index of checkouts, which go with such a branch. Pure
 * (docs/adr/0047-whose-commit-it-is.md).
 */
export function withMoves(found: readonly Stray[], { moves, isSwitched, checkouts }: RefMoves): Stray[] {
  const isUsers = isSwitched || [...moves.values()].some(({ isProven }) => !isProven)
  return found.map((stray) => {
    const { change, from, to } = stray
    const move = moves.get(change.what)
    if (move && !from && !to) {
      const commits = { before: move.from, after: move.to }
      const left = move.isProven ? {} : { kept: false, why: mayBeYours, back: backOf(change, move) }
      return { ...stray, change: { ...change, commits, ...left } }
    }
    if (!isUsers || !goesWithBranch(stray)) return stray
    const was = branchOfHead(change.before ?? '')
    const checkout = checkouts.get(path.dirname(nameOf(stray)))
    const back =
      was === null || checkout === undefined
        ? {}
        : { back: `git -C ${quoted(checkout)} switch ${quoted(was)}` }
    return { ...stray, change: { ...change, kept: false, why: mayBeYours, ...back } }
  })
}

const mayBeYours = 'it may be yours'

function goesWithBranch({ from, to }: Stray): boolean {
  const file = from ?? to
  return file !== undefined && /^(?:worktrees\/[^/]+\/)?(?:HEAD|index)$/.test(file.path)
}

function backOf({ what, before }: StrayChange, { checkout }: RefMove): string {
  const branch = quoted(branchOf(what) ?? what)
  if (before === null) return `git branch -D ${branch}`
  const commit = before.slice(0, 10)
  return checkout === undefined
    ? `git branch --force ${branch} ${commit}`
    : `git -C ${quoted(checkout)} reset --keep ${commit}`
}

/** The refs, and the files of git folders, that an operation changes. */
function changedBy({ refs, files, index, head, strays: parts = [] }: Operation): string[] {
  return [
    ...(files?.moves ?? []).map((move) => path.join(files?.checkout ?? '', toText(move.path))),
    ...refs.map(({ ref }) => ref),
    ...(index ? [path.join(index.gitDir, 'index')] : []),
    ...(head ? [path.join(head.gitDir, 'HEAD')] : []),
    ...parts.flatMap(({ folder, moves }) => moves.map((move) => path.join(folder, toText(move.path)))),
  ]
}

function refStrays(before: Surroundings['refs'], after: Surroundings['refs'], { branches }: Scope): Stray[] {
  return eitherOf(before, after)
    .filter((what) => !isOurs(what) && !branches.has(what) && before.get(what) !== after.get(what))
    .map((what) => {
      const [old, now] = [before.get(what) ?? null, after.get(what) ?? null]
      return { change: { what, before: old, after: now, kept: isObject(old) && isObject(now) } }
    })
}

/** A symbolic ref is only reported; an undo does not change it. */
const isObject = (value: string | null) => value === null || !value.startsWith('ref: ')

function fileStrays(before: Surroundings['files'], after: Surroundings['files'], scope: Scope): Stray[] {
  const changed = eitherOf(before, after).flatMap((what) => {
    const [from, to] = [before.get(what), after.get(what)]
    const file = from ?? to
    return !file || isOfTask(file, scope) || isSameFile(from, to) ? [] : [{ what, from, to }]
  })
  // An operation replaces one index.
  const index = changed.find(({ from, to }) => isIndex(from, to))
  return changed.map(({ what, from, to }) => {
    const kept = canReturn(from, to) && (!isIndex(from, to) || what === index?.what)
    return {
      change: {
        what,
        before: valueOf(from),
        after: valueOf(to),
        ...modesOf(from, to),
        ...configOf(from, to),
        kept,
      },
      from,
      to,
    }
  })
}

function eitherOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
}

function isOfTask({ kind, folder }: WatchedFile, { shadow }: Scope): boolean {
  if (shadow === undefined) return false
  return kind === 'index' || (isBelow(folder, shadow) && folder !== `${shadow}/.git`)
}

function isSameFile(from: WatchedFile | undefined, to: WatchedFile | undefined): boolean {
  if (!from || !to) return from === to
  if (from.kind !== to.kind || from.permissions !== to.permissions) return false
  if (from.look === to.look && isSameContent(from, to)) return true
  // Of one reading there may be only the hash.
  const isByValue = from.kind === 'index' || !from.content || !to.content
  return isByValue && valueOf(from) === valueOf(to)
}

function isSameContent({ content: one }: WatchedFile, { content: other }: WatchedFile): boolean {
  return one === other || (one !== undefined && other !== undefined && one.equals(other))
}

/** An index that was there and is there. One that came or went is a file like others. */
function isIndex(from: WatchedFile | undefined, to: WatchedFile | undefined): boolean {
  return from?.kind === 'index' && to?.kind === 'index'
}

/** Whether both sides are known, and differ in themselves: what a link leads to is not kept. */
function canReturn(from: WatchedFile | undefined, to: WatchedFile | undefined): boolean {
  const isKnown = [from, to].every((file) => !file || (file.isNear && file.content !== undefined))
  return isKnown && !(from && to && from.permissions === to.permissions && isSameContent(from, to))
}

function valueOf(file: WatchedFile | undefined): string | null {
  if (!file) return null
  const { kind, content, look } = file
  if (!content) return look === '' ? 'special' : look
  if (kind === 'link') return `link: ${content.toString()}${look === '' ? '' : ` ${look}`}`
  const text = content.length < 1000 ? content.toString().trimEnd() : ''
  if (path.basename(file.path) === 'HEAD' && /^(?:ref: \S+|[0-9a-f]{40,64})$/.test(text)) return text
  return (kind === 'index' && entriesHash(content)) || createHash('sha256').update(content).digest('hex')
}

function modesOf(from: WatchedFile | undefined, to: WatchedFile | undefined): Pick<StrayChange, 'mode'> {
  if (!from || !to || from.permissions === to.permissions) return {}
  return { mode: { before: from.permissions.toString(8), after: to.permissions.toString(8) } }
}

/** Values are not told: they may be secrets. */
function configOf(from: WatchedFile | undefined, to: WatchedFile | undefined): Pick<StrayChange, 'keys'> {
  const name = path.basename((from ?? to)?.path ?? '')
  const isConfig = name === 'config' || name === 'config.worktree'
  if (!isConfig || [from, to].some((file) => file && (file.kind !== 'file' || !file.content))) return {}
  const keys = changedKeys(from?.content?.toString() ?? '', to?.content?.toString() ?? '')
  return keys.length > 0 ? { keys } : {}
}

/**
 * Records what changed as an operation of the run, so that undo puts it back. Answers its id; undefined when nothing can be
 * put back, or when somebody has moved a ref again.
 */
export async function keepStrays(work: Work, found: readonly Stray[]): Promise<string | undefined> {
  const { ports, task } = work
  const kept = found.filter(({ change }) => change.kept)
  if (kept.length === 0) return undefined
  const id = ports.ids.uid()
  const keep = async () => {
    const refs = strayRefs(kept, strayPinsOf(task.uid, id))
    const operation = newOperation(work, 'run', { id, refs, ...(await strayParts(work, kept)) })
    return holdTask(ports, task, { verb: 'run' }, () => perform(work, operation))
  }
  // A failure here does not change how the run ended.
  return keep().then(
    () => id,
    () => undefined,
  )
}

/** The changes as those of an operation, with pins that keep the old values from `git gc`. Pure. */
function strayRefs(kept: readonly Stray[], pins: string): RefChange[] {
  const refs = kept.filter(({ from, to, file }) => !from && !to && !file).map(({ change }) => change)
  return refs.flatMap(({ what, before, after }, n) => [
    { ref: what, old: before, new: after },
    ...(before === null ? [] : [{ ref: `${pins}/${n}`, old: null, new: before }]),
  ])
}

/** Stores the contents, and answers the parts of the operation that name them. */
async function strayParts(
  work: Work,
  kept: readonly Stray[],
): Promise<Pick<Operation, 'files' | 'index' | 'strays'>> {
  const parts = new Map<string, StrayFiles['moves'][number][]>()
  let index: Operation['index']
  for (const { from, to } of kept) {
    const file = from ?? to
    if (!file) continue
    const [old, now] = [await store(work, from), await store(work, to)]
    if (old && now && isIndex(from, to))
      index = { gitDir: path.dirname(path.join(file.folder, toText(file.path))), from: old, to: now }
    else parts.set(file.folder, [...(parts.get(file.folder) ?? []), { path: file.path, from: old, to: now }])
  }
  const strays = Array.from(parts, ([folder, moves]) => ({ folder, moves }))
  return { files: checkoutPart(kept), index, strays: strays.length > 0 ? strays : undefined }
}

function checkoutPart(kept: readonly Stray[]): Operation['files'] {
  const [first] = kept.flatMap(({ file }) => file ?? [])
  if (!first) return undefined
  const moves = kept.flatMap(({ file }): FileMove[] => {
    if (!file) return []
    const { path: name, from, to } = file.change
    return [{ path: name, from: from?.leaf ?? null, to: to?.leaf ?? null }]
  })
  return { checkout: first.checkout, moves }
}

async function store({ ports, repo }: Work, file: WatchedFile | undefined): Promise<Leaf | null> {
  if (!file?.content) return null
  const oid = await ports.contents.write(repo, file.content)
  if (file.kind === 'link') return { mode: '120000', oid }
  const { permissions } = file
  return { mode: permissions & 0o100 ? '100755' : '100644', oid, permissions }
}
