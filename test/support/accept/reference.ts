/**
 * What accept has to do, written down a second time: `git merge-file` where both sides changed the text of one file,
 * and a table for all the rest. Nothing of `src` is used here.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { memoryRoot } from '../temp-folders.ts'
import { type Changes, changed, changes, type Entry, isBelow, isSame, type Tree, without } from './tree.ts'

/** A tree; or why there is none. `unsure`: git's guess at a rename could go either way, so the case says nothing. */
export type Outcome = { readonly tree: Tree } | { readonly conflict: string } | { readonly unsure: string }

class Stop extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    super()
    this.outcome = outcome
  }
}

function conflict(why: string): never {
  throw new Stop({ conflict: why })
}

function outcomeOf(work: () => Tree): Outcome {
  try {
    return { tree: work() }
  } catch (error) {
    if (error instanceof Stop) return error.outcome
    throw error
  }
}

/** The merge of two whole trees. Renames are followed, renames of folders are not. */
export function merged(base: Tree, ours: Tree, theirs: Tree): Outcome {
  return outcomeOf(() => merge(base, ours, theirs))
}

function merge(base: Tree, ours: Tree, theirs: Tree): Tree {
  const [ourMoves, theirMoves] = [renames(base, ours), renames(base, theirs)]
  const result = new Map<string, Entry>()
  const put = (at: string, entry: Entry | undefined) => {
    if (!entry) return
    if (result.has(at)) conflict(`two files come to ${at}`)
    result.set(at, entry)
  }
  for (const [from, was] of base) {
    const [ourPath, theirPath] = [ourMoves.get(from), theirMoves.get(from)]
    const [our, their] = [ours.get(ourPath ?? from), theirs.get(theirPath ?? from)]
    if (ourPath !== undefined && theirPath !== undefined && ourPath !== theirPath)
      conflict(`${from} went two ways`)
    const moved = ourPath ?? theirPath
    if (moved !== undefined && (!our || !their)) conflict(`${from} renamed and deleted`)
    if (moved !== undefined && isLink(our) !== isLink(their)) {
      // Both have the same at the new name: it was copied there, and who knows whether the old one is another file.
      if (isSame(ours.get(moved), theirs.get(moved))) throw new Stop({ unsure: `${from} → ${moved}` })
      conflict(`${from} renamed, and now a link`)
    }
    put(moved ?? from, mergeEntry(moved ?? from, was, our, their))
  }
  const arrived = (moves: ReadonlyMap<string, string>) => new Set(moves.values())
  const [ourArrivals, theirArrivals] = [arrived(ourMoves), arrived(theirMoves)]
  for (const added of new Set([...ours.keys(), ...theirs.keys()])) {
    if (base.has(added)) continue
    const our = ourArrivals.has(added) ? undefined : ours.get(added)
    const their = theirArrivals.has(added) ? undefined : theirs.get(added)
    if (our && their && !isSame(our, their)) conflict(`${added} added twice`)
    put(added, our ?? their)
  }
  for (const file of result.keys()) {
    for (const other of result.keys()) if (isBelow(other, file)) conflict(`${file} is a file and a folder`)
  }
  return result
}

/** One file, three versions. */
function mergeEntry(
  at: string,
  base: Entry,
  our: Entry | undefined,
  their: Entry | undefined,
): Entry | undefined {
  if (isSame(our, their) || isSame(base, their)) return our
  if (isSame(base, our)) return their
  if (!our || !their) conflict(`${at} deleted and changed`)
  if ([base, our, their].some(isLink)) conflict(`${at} changed, and it is a link`)
  const mode = our.mode === base.mode ? their.mode : our.mode
  return { mode, text: mergeText(at, base.text, our.text, their.text) }
}

function isLink(entry: Entry | undefined): boolean {
  return entry?.mode === '120000'
}

function mergeText(at: string, base: string, our: string, their: string): string {
  if (our === their || base === their) return our
  if (base === our) return their
  const folder = mkdtempSync(path.join(memoryRoot(), 'offshoot-merge-file-'))
  const files = ['our', 'base', 'their'].map((name) => path.join(folder, name))
  for (const [index, text] of [our, base, their].entries()) writeFileSync(files[index] ?? '', text)
  const { status, stdout } = spawnSync('git', ['merge-file', '-p', '--quiet', ...files], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  if (status !== 0) conflict(`${at} changed in the same place`)
  return stdout
}

/** A file that went and one that came, with most of the text in common. */
function renames(base: Tree, side: Tree): Map<string, string> {
  const found = new Map<string, string>()
  const taken = new Set<string>()
  for (const [from, was] of base) {
    if (side.has(from)) continue
    for (const [to, now] of side) {
      if (base.has(to)) continue
      const alike = likeness(was, now)
      if (alike < 0.3) continue
      // Git counts bytes and calls half of them a rename; near that, and between two candidates, anything goes.
      if (alike < 0.7 || found.has(from) || taken.has(to)) throw new Stop({ unsure: `${from} → ${to}` })
      found.set(from, to)
      taken.add(to)
    }
  }
  return found
}

function likeness(a: Entry, b: Entry): number {
  if (isLink(a) || isLink(b)) return isSame(a, b) ? 1 : 0
  const [one, two] = [a.text.split('\n'), new Set(b.text.split('\n'))]
  return (one.filter((line) => line !== '' && two.has(line)).length + 1) / Math.max(one.length, two.size)
}

/** The user's three layers. */
export interface Layers {
  readonly head: Tree
  readonly index: Tree
  /** With all that is untracked and ignored. */
  readonly files: Tree
}

/** What is to be left afterwards; or a conflict, after which everything is as it was. */
export type Expected = { readonly layers: Layers } | Exclude<Outcome, { readonly tree: Tree }>

export interface Offered {
  readonly base: Tree
  readonly theirs: Tree
}

/**
 * patch: files only. The paths that the agent changed are looked at first; where that conflicts, all that git would
 * not ignore, because only then a rename of the user's is seen.
 */
export function landedAsPatch({ base, theirs }: Offered, user: Layers, isIgnored: IsIgnored): Expected {
  const offered = changes(base, theirs)
  const concerned = new Map([...offered.keys()].map((file) => [file, user.files.get(file)]))
  const narrow = changed(base, concerned)
  const wide = changed(without(user.files, isIgnored), concerned)
  let first: Expected | undefined
  for (const ours of [narrow, wide]) {
    const outcome = merged(base, ours, theirs)
    if ('unsure' in outcome) return outcome
    if ('tree' in outcome) return withFiles(user, changes(ours, outcome.tree))
    first ??= outcome
  }
  return first ?? { conflict: '' }
}

type IsIgnored = (path: string) => boolean

function withFiles(user: Layers, plan: Changes): Expected {
  const way = inTheWay(user.files, plan)
  if (way !== undefined) return { conflict: `${way} is in the way` }
  return { layers: { ...user, files: changed(user.files, plan) } }
}

/** What would be overwritten or made unreachable by the plan although it is no part of it. */
function inTheWay(files: Tree, plan: Changes): string | undefined {
  for (const [file, to] of plan) {
    if (!to) continue
    for (const there of files.keys()) {
      const stays = !plan.has(there) || plan.get(there) !== undefined
      if (stays && (isBelow(there, file) || isBelow(file, there))) return there
    }
  }
  return undefined
}

/** squash, merge, rebase: the branch, and with it index and files, which must hold nothing of the user's there. */
export function landedAsCommit(steps: readonly Offered[], user: Layers): Expected {
  let head = user.head
  for (const { base, theirs } of steps) {
    const outcome = merged(base, head, theirs)
    if (!('tree' in outcome)) return outcome
    head = outcome.tree
  }
  const plan = changes(user.head, head)
  for (const file of plan.keys()) {
    const was = user.head.get(file)
    if (!isSame(user.index.get(file), was)) return { conflict: `${file} is staged` }
    if (!isSame(user.files.get(file), was)) return { conflict: `${file} has changes` }
  }
  const way = inTheWay(user.index, plan)
  if (way !== undefined) return { conflict: `${way} is staged in the way` }
  const expected = withFiles(user, plan)
  if (!('layers' in expected)) return expected
  return { layers: { head, index: changed(user.index, plan), files: expected.layers.files } }
}
