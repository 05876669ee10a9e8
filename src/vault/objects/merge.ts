/** Merges three trees in memory. No config of the user's or the agent's applies. */
import path from 'node:path'
import { type BytePath, splitNul, toText } from '../../core/model/bytes.ts'
import { isSame } from '../../core/model/leaf.ts'
import { trivialMerge } from '../../core/model/trivial-merge.ts'
import type { Conflict, Leaf, LeafChange, Merged, MergeInput } from '../../core/model/tree.ts'
import { branchRef, branchRefs, nowhereHead } from '../../core/model/refs.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'
import { commitContent } from './commit.ts'
import type { Objects } from './objects.ts'
import { compareTrees, findLeaf } from './tree.ts'

let counter = 0

/**
 * Runs `git merge-tree` between two temporary commits whose common parent is the base. They get refs in a git folder of
 * their own, because conflict markers show the names of the refs.
 */
export async function mergeTrees(vault: OpenVault, input: MergeInput, signal?: AbortSignal): Promise<Merged> {
  const known = trivialMerge(input)
  if (known) return known
  return withMergeFolder(vault, input, async (scratch) => {
    const [ours, theirs] = input.labels.map(refName)
    const commits = await putSides(vault, input)
    const sides = [
      [ours ?? 'ours', commits.ours],
      [theirs ?? 'theirs', commits.theirs],
    ] as const
    for (const [name, commit] of sides)
      await vault.files.write(path.join(scratch, branchRef(name)), `${commit}\n`)
    const { stdout } = await vault.exec({
      args: ['merge-tree', '--write-tree', '-z', '--messages', sides[0][0], sides[1][0]],
      ...callScope(vault, scratch, signal),
      expect: [1],
    })
    const merged = parseMerge(stdout)
    await noteWritten(vault.objects, merged.tree, [input.ours, input.theirs])
    return withSilentLosses(vault, input, merged)
  })
}

/** A git folder with the merge rules of the target, and without any other setting that changes a merge. */
export async function withMergeFolder<T>(
  vault: OpenVault,
  { attributes }: Pick<MergeInput, 'attributes'>,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = scratchIn(vault.vault, `merge-${process.pid}-${counter++}`)
  try {
    await vault.files.makeFolder(path.join(scratch, branchRefs), 0o700)
    await vault.files.makeFolder(path.join(scratch, 'info'), 0o700)
    await vault.files.copy(path.join(vault.vault, 'config'), path.join(scratch, 'config'))
    await vault.files.write(path.join(scratch, 'info', 'attributes'), attributeLines(attributes))
    await vault.files.write(path.join(scratch, 'HEAD'), nowhereHead)
    return await work(scratch)
  } finally {
    await vault.files.remove(scratch)
  }
}

/** The temporary commits. The sides are younger than the base, so that git finds it without walking on. */
export async function putSides(
  { objects }: OpenVault,
  input: Pick<MergeInput, 'base' | 'ours' | 'theirs'>,
): Promise<{ ours: string; theirs: string }> {
  const put = (tree: string, parents: string[], second: number) =>
    objects.put(
      'commit',
      commitContent({ tree, parents, message: '', at: new Date(second * 1000).toISOString() }),
    )
  const base = await put(input.base, [], 0)
  return { ours: await put(input.ours, [base], 1), theirs: await put(input.theirs, [base], 1) }
}

export function callScope(vault: OpenVault, scratch: string, signal: AbortSignal | undefined) {
  return {
    gitDir: scratch,
    objectDir: path.join(vault.vault, 'objects'),
    alternates: vault.alternates,
    cwd: scratch,
    settings: [
      ['merge.directoryRenames', 'false'],
      ['merge.renames', 'true'],
    ],
    signal,
  } as const
}

/** Git syncs the objects that it writes and not their names: the next sync of ours does. */
async function noteWritten(objects: Objects, tree: string, sides: readonly (string | null)[]): Promise<void> {
  if (sides.includes(tree)) return
  await objects.written(tree)
  const known = await Promise.all(sides.map((side) => objects.read(side)))
  for (const { name, mode, oid } of await objects.read(tree)) {
    const same = known.flatMap((entries) => entries.filter((entry) => entry.name === name))
    if (same.some((entry) => entry.oid === oid)) continue
    if (mode !== '40000') await objects.written(oid)
    else
      await noteWritten(
        objects,
        oid,
        same.flatMap((entry) => (entry.mode === '40000' ? [entry.oid] : [])),
      )
  }
}

/** Adds the losses that git does not report. */
export async function withSilentLosses(vault: OpenVault, input: MergeInput, merged: Merged): Promise<Merged> {
  const ours = await compareTrees(vault.objects, input.base, input.ours)
  const theirs = await compareTrees(vault.objects, input.base, input.theirs)
  const known = new Set(merged.conflicts.map((conflict) => conflict.path))
  const lost = [...silentLosses(ours, theirs), ...(await findOverwritten(vault, merged.tree, ours, theirs))]
    .map(toText)
    .filter((file) => !known.has(file))
  return {
    ...merged,
    conflicts: [...merged.conflicts, ...lost.map((path) => ({ path, kind: 'add/add' as const }))],
  }
}

type TreeChanges = ReadonlyMap<BytePath, LeafChange>

/**
 * If one side renamed a file and the other turned it into a link, git 2.39 forgets the rename. If both sides have a
 * different file at the new name, git then keeps one of them without reporting a conflict.
 */
export function silentLosses(ours: TreeChanges, theirs: TreeChanges): BytePath[] {
  if (!leavesOther(ours, theirs) && !leavesOther(theirs, ours)) return []
  return Array.from(ours)
    .filter(([file, { from, to }]) => {
      const other = theirs.get(file)
      const added = from === null && to && other?.from === null && other.to
      return added && !isSame(other.to, to)
    })
    .map(([file]) => file)
}

/**
 * If both sides added the same file, the merge must keep it. If one side got there by a rename and the other still has
 * the old name, git 2.39 overwrites it with the content of the old name.
 */
async function findOverwritten(
  vault: OpenVault,
  merged: string,
  ours: TreeChanges,
  theirs: TreeChanges,
): Promise<BytePath[]> {
  const lost: BytePath[] = []
  for (const [file, { from, to }] of ours) {
    const other = theirs.get(file)?.to
    if (from !== null || !to || !isSame(other, to)) continue
    const now = await findLeaf(vault.objects, merged, file)
    if (!isSame(now, to)) lost.push(file)
  }
  return lost
}

/** Whether `first` deleted a file that `second` changed into another kind. */
function leavesOther(first: TreeChanges, second: TreeChanges): boolean {
  const kind = (leaf: Leaf) => leaf.mode.slice(0, 2)
  return Array.from(second).some(
    ([file, { from, to }]) => from && to && kind(from) !== kind(to) && first.get(file)?.to === null,
  )
}

function refName(label: string): string {
  return label.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+|\.lock$|\.$/g, '') || 'side'
}

function attributeLines(attributes: MergeInput['attributes']): string {
  const lines = Array.from(attributes ?? [], ([file, how]) => {
    const pattern = toText(file).replace(/[\\*?[\]!"]/g, '\\$&')
    return `"/${pattern.replaceAll('\n', '\\n')}" ${how === 'union' ? 'merge=union' : '-merge'}\n`
  })
  return lines.join('')
}

const kinds: readonly (readonly [RegExp, Conflict['kind']])[] = [
  [/modify\/delete|rename\/delete/, 'delete/modify'],
  [/add\/add/, 'add/add'],
  [/distinct modes|mode/, 'mode'],
  [/rename/, 'rename'],
  [/file\/directory|directory\/file/, 'add/add'],
]

/** `<tree> 0 (<mode> <oid> <stage> TAB <path> 0)* 0 (<count> 0 <path> 0… <type> 0 <message> 0)*` */
export function parseMerge(output: Uint8Array): Merged {
  return parseAnswer(splitNul(output))
}

export function parseAnswer([tree = '', ...fields]: readonly string[]): Merged {
  const end = fields.indexOf('')
  const conflicted = new Map<BytePath, Set<string>>()
  for (const entry of end === -1 ? [] : fields.slice(0, end)) {
    const file = entry.slice(entry.indexOf('\t') + 1)
    const stages = conflicted.get(file) ?? new Set<string>()
    conflicted.set(file, stages.add(entry.slice(entry.indexOf('\t') - 1, entry.indexOf('\t'))))
  }
  const types = new Map<BytePath, string>()
  const homes = new Map<BytePath, BytePath>()
  for (let at = end + 1; end !== -1 && at < fields.length; ) {
    const count = Number(fields[at])
    const type = fields[at + 1 + count] ?? ''
    const named = fields.slice(at + 1, at + 1 + count)
    if (type.startsWith('CONFLICT')) for (const file of named) types.set(file, type)
    if (movesAside.test(type))
      for (const file of named) homes.set(file, named.find((home) => file.startsWith(`${home}~`)) ?? file)
    at += count + 3
  }
  const conflicts = new Map<string, Conflict>()
  const aside = new Map<string, string>()
  for (const [file, stages] of conflicted) {
    const [path, name] = [toText(homes.get(file) ?? file), toText(file)]
    const type = types.get(file) ?? ''
    const kind = kinds.find(([pattern]) => pattern.test(type))?.[1]
    conflicts.set(path, { path, kind: kind ?? (stages.has('1') ? 'content' : 'add/add') })
    if (path !== name) aside.set(path, name)
  }
  return { tree, conflicts: [...conflicts.values()], ...(aside.size > 0 && { aside }) }
}

/** If a file cannot stay because a folder or a link has its name, git writes it as `name~side`. */
const movesAside = /file\/directory|directory\/file|distinct/
