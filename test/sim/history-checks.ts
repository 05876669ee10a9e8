/** P1, P2 and P3, between two moments of which only verbs lie between. Each answers what is wrong, in words. */
import type { Leaf } from '../../src/core/model/tree.ts'
import type { Operation } from '../../src/core/model/operation.ts'
import { contentsOf, difference, type Tree } from '../faults/folder-tree.ts'
import type { Snapshot } from './quick-snapshot.ts'

/** Mode and content as a tree has them; permissions of the user's own files do not count. */
function shown(value: string | undefined): string | null {
  if (value === undefined) return null
  const [kind = '', oid] = value.split(' ')
  return `${kind === 'link' ? 'link' : Number.parseInt(kind, 8) & 0o100 ? 'program' : 'file'} ${oid}`
}

const kinds: Record<string, string> = { '100644': 'file', '100755': 'program', '120000': 'link' }

function wanted(leaf: Leaf | null): string | null {
  return leaf && `${kinds[leaf.mode] ?? leaf.mode} ${leaf.oid}`
}

/** P1: what differs is what the operations said that were done meanwhile, and nothing else. */
export function explained(
  before: Snapshot,
  after: Snapshot,
  done: readonly Operation[],
  /** A task works in the checkout itself. */
  inCheckout: boolean,
  /** And its agent has just done so. */
  ran: boolean,
): string[] {
  const moves = new Map(done.flatMap(({ files }) => files?.moves ?? []).map((move) => [move.path, move]))
  const moved = new Map(done.flatMap(({ refs }) => refs).map((change) => [change.ref, change]))
  const writesFiles = ran || (inCheckout && done.some(({ step }) => step !== undefined))
  const wrong: string[] = []
  for (const name of changed(before.files, after.files)) {
    const move = moves.get(name)
    if (writesFiles && !move) continue
    if (!move) wrong.push(`${name} changed`)
    else if (shown(after.files[name]) !== wanted(move.to))
      wrong.push(`${name} is not what the operation says`)
  }
  for (const ref of changed(before.refs, after.refs))
    if ((after.refs[ref] ?? null) !== moved.get(ref)?.new) wrong.push(`${ref} moved`)
  if (!inCheckout) {
    const touchesIndex = done.some(({ index }) => index)
    const entries = new Set(
      done.flatMap(({ index }) => (index && 'moves' in index ? index.moves : [])).map((move) => move.path),
    )
    for (const entry of changed(before.index ?? {}, after.index ?? {}))
      if (!touchesIndex || !entries.has(entry.slice(0, -2)))
        wrong.push(`the entry ${entry} of the index changed`)
    const isLog = (name: string) => moved.size > 0 && name.startsWith('logs/')
    wrong.push(
      ...changed(before.git, after.git)
        .filter((name) => !isLog(name))
        .map((name) => `.git/${name} changed`),
    )
  }
  return wrong.map((line) => `P1: ${line}`)
}

/** P2: all of an operation that is done is done, where the user has not been since. */
export function isWhole(before: Snapshot, after: Snapshot, done: readonly Operation[]): string[] {
  const latest = new Map(done.flatMap(({ files }) => files?.moves ?? []).map((move) => [move.path, move]))
  return [...latest.values()]
    .filter(({ path: name, from, to }) => {
      const [then, now] = [shown(before.files[name]), shown(after.files[name])]
      const untouched = then === wanted(from) || then === wanted(to)
      return to?.mode !== '160000' && untouched && now !== wanted(to)
    })
    .map(({ path: name }) => `P2: ${name} is not as the operation left it`)
}

/** P2: nothing is under way any more, and nothing half-made is left; a lock that the user has left is theirs. */
export function settled(after: Snapshot, theirs: readonly string[]): string[] {
  return [
    ...after.pending.map((task) => `${task.pending?.verb} of ${task.id} is still pending`),
    ...after.strays.filter((name) => !theirs.includes(name)).map((name) => `.git/${name} is left`),
    ...after.children.map((name) => `the record of the child ${name} is left`),
    ...orphans(after),
  ].map((line) => `P2: ${line}`)
}

function orphans({ tasks, workspaces, trash }: Snapshot): string[] {
  const known = new Set(tasks.map((task) => task.path.split('/').at(-1)))
  return (
    Object.keys(workspaces)
      // One that the agent itself moved away is nobody's business.
      .filter((name) => !known.has(name) && !name.endsWith('-moved') && !(name in trash))
      .map((name) => `the workspace ${name} belongs to nobody`)
  )
}

/** P3: every step and every byte that was there is somewhere; `ran`: but for what an agent did to ignored files. */
export function isKept(before: Snapshot, after: Snapshot, ran: boolean): string[] {
  if (after.vault === undefined) return ['P3: an object of the vault is missing']
  const { vault } = after
  const there = [after.files, ...Object.values(after.workspaces), ...Object.values(after.trash)]
  const held = new Set([...vault, ...there.flatMap(contentsOf)])
  const had: Record<string, Tree> = { 'the checkout': before.files, ...before.workspaces }
  const isContent = (name: string, value: string) =>
    value !== 'special' && !/(^|\/)\.git(\/|$)/.test(name) && !(ran && name.endsWith('.log'))
  return [
    ...Object.entries(had).flatMap(([where, tree]) =>
      Object.entries(tree)
        .filter(([name, value]) => isContent(name, value) && !held.has(contentsOf({ name: value })[0]!))
        .map(([name]) => `P3: what ${name} of ${where} held is nowhere`),
    ),
    ...[...(before.vault ?? [])]
      .filter((oid) => !vault.has(oid))
      .map((oid) => `P3: ${oid} has left the vault`),
    ...before.operations
      .filter(({ id }) => !after.operations.some((known) => known.id === id))
      .map(({ verb }) => `P3: the ${verb} is not on record any more`),
    ...Object.keys(before.tips)
      .filter((uid) => !(uid in after.tips))
      .map((uid) => `P3: the steps of ${uid} are gone`),
  ]
}

/** P3: what an operation changed is as it was before, where nobody has been since. */
export function isBack(
  undone: { before: Snapshot; after: Snapshot },
  before: Snapshot,
  after: Snapshot,
  /** In a checkout that a task works in, its steps change the index, and they stay. */
  touchesIndex: boolean,
): string[] {
  const wrong = (what: 'files' | 'index' | 'refs') => {
    const [then, left, now, back] = [undone.before, undone.after, before, after].map(
      (snapshot) => snapshot[what] ?? {},
    )
    return changed(then!, left!)
      .filter((name) => same(now![name], left![name]) && !same(back![name], then![name]))
      .map((name) => `P3: the undo did not bring ${name} back`)
  }
  const gone = Object.keys(undone.before.workspaces).filter((name) => !(name in undone.after.workspaces))
  // A commit is taken back on its branch; a checkout that went elsewhere since is left alone.
  const isElsewhere =
    changed(undone.before.refs, undone.after.refs).length > 0 && undone.after.git.HEAD !== before.git.HEAD
  return [
    ...(isElsewhere ? [] : wrong('files')),
    ...(touchesIndex && !isElsewhere ? wrong('index') : []),
    ...wrong('refs'),
    ...gone.flatMap((name) => {
      // A full disk has taken the folder, and with it what no step holds.
      const isIgnored = (file: string) => before.slimmed.has(name) && file.endsWith('.log')
      const was = contents(undone.before.workspaces[name]!)
      const kept = Object.fromEntries(Object.entries(was).filter(([file]) => !isIgnored(file)))
      return difference(kept, contents(after.workspaces[name] ?? {})).map(
        (line) => `P3: in the workspace ${name} that came back, ${line}`,
      )
    }),
  ]
}

const same = (a: string | undefined, b: string | undefined) => a === b || shown(a) === shown(b)

const contents = (tree: Tree) =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => !/(^|\/)\.git(\/|$)/.test(name)))

function changed(before: Readonly<Record<string, string>>, after: typeof before): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  )
}

export interface Landed {
  /** The workspace as it was at the start. */
  readonly first: Tree
  readonly before: Snapshot
  readonly after: Snapshot
  readonly workspace: string
}

/** A1: where the user had changed nothing, the checkout has what the workspace had. */
export function hasLanded({ first, before, after, workspace }: Landed): string[] {
  const work = before.workspaces[workspace] ?? {}
  return changed(contents(first), contents(work))
    .filter((name) => !name.endsWith('.log') && work[name] !== 'special')
    .filter(
      (name) =>
        shown(before.files[name]) === shown(first[name]) && shown(after.files[name]) !== shown(work[name]),
    )
    .map((name) => `A1: ${name} did not land`)
}
