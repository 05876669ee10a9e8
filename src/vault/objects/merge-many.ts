/** Merges many trees with one git (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md). */
import { type BytePath, fromText, splitNul } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import type { Conflict, LeafChange, Merged, MergeInput } from '../../core/model/tree.ts'
import { trivialMerge } from '../../core/model/trivial-merge.ts'
import type { OpenVault } from '../open.ts'
import { conflictLines } from './conflict-lines.ts'
import { findContent } from './contents.ts'
import { callScope, mergeTrees, parseAnswer, putSides, withMergeFolder, withSilentLosses } from './merge.ts'
import { compareTrees, findLeaf } from './tree.ts'

/** The results in the order of the inputs, each as `mergeTrees` would answer it, with the lines of text conflicts. */
export async function mergeMany(
  vault: OpenVault,
  inputs: readonly MergeInput[],
  signal?: AbortSignal,
): Promise<Merged[]> {
  const results = new Map<MergeInput, Merged>()
  const open: Merge[] = []
  for (const input of inputs) {
    const known = trivialMerge(input)
    if (known) results.set(input, known)
    else open.push({ input, touched: await touchedBy(vault, input) })
  }
  for (const group of groupsOf(open)) {
    const merged = await mergeGroup(vault, group, signal)
    for (const [at, { input }] of group.entries()) results.set(input, merged[at] ?? lost())
  }
  return inputs.map((input) => results.get(input) ?? lost())
}

function lost(): never {
  throw new AppError('failed', 'git merge-tree gave fewer answers than it was asked for.')
}

/** A merge, and the paths that either side has changed. */
export interface Merge {
  readonly input: MergeInput
  readonly touched: ReadonlySet<BytePath>
}

async function touchedBy({ objects }: OpenVault, { base, ours, theirs }: MergeInput) {
  const sides = [await compareTrees(objects, base, ours), await compareTrees(objects, base, theirs)]
  return new Set(sides.flatMap((side: ReadonlyMap<BytePath, LeafChange>) => [...side.keys()]))
}

/**
 * One git has one list of merge rules for all of its merges. Merges share it if no path that one of them touches has a rule
 * in another one alone. Pure.
 */
export function groupsOf(merges: readonly Merge[]): Merge[][] {
  const groups: { merges: Merge[]; rules: Map<BytePath, string>; touched: Set<BytePath> }[] = []
  for (const merge of merges) {
    const rules = merge.input.attributes ?? new Map<BytePath, never>()
    const fits = (group: (typeof groups)[number]) =>
      [...rules].every(([file, rule]) => !group.touched.has(file) || group.rules.get(file) === rule) &&
      [...group.rules].every(([file, rule]) => !merge.touched.has(file) || rules.get(file) === rule)
    let group = groups.find(fits)
    if (!group) groups.push((group = { merges: [], rules: new Map(), touched: new Set() }))
    group.merges.push(merge)
    for (const [file, rule] of rules) group.rules.set(file, rule)
    for (const file of merge.touched) group.touched.add(file)
  }
  return groups.map(({ merges: together }) => together)
}

/** Git reads all pairs before it prints the first answer: up to version 2.48 it keeps its answers back until it ends. */
async function mergeGroup(
  vault: OpenVault,
  group: readonly Merge[],
  signal: AbortSignal | undefined,
): Promise<Merged[]> {
  const attributes = new Map(group.flatMap(({ input }) => [...(input.attributes ?? [])]))
  const pairs: string[] = []
  for (const { input } of group) {
    const { ours, theirs } = await putSides(vault, input)
    pairs.push(`${ours} ${theirs}\n`)
  }
  try {
    const { stdout } = await withMergeFolder(vault, { attributes }, (scratch) =>
      vault.exec({
        args: ['merge-tree', '--write-tree', '--stdin'],
        stdin: pairs.join(''),
        ...callScope(vault, scratch, signal),
      }),
    )
    const answers = parseAnswers(stdout)
    const merged: Merged[] = []
    for (const [at, { input }] of group.entries()) {
      const answer = answers[at] ?? lost()
      merged.push(await withLines(vault, await withSilentLosses(vault, input, answer)))
    }
    return merged
  } catch (error) {
    // One pair that git cannot read ends the whole process: by itself, each of the others still has its answer.
    if (signal?.aborted || group.length === 1) throw error
    const merged: Merged[] = []
    for (const { input } of group) merged.push(await mergeTrees(vault, input, signal))
    return merged
  }
}

/** `(<status> 0 <answer as of parseMerge> 0)*`: status 1 is a clean merge, whose answer is its tree alone. */
export function parseAnswers(output: Uint8Array): Merged[] {
  const fields = splitNul(output)
  const answers: Merged[] = []
  for (let at = 0; at < fields.length; ) {
    const from = at + 1
    const isClean = fields[at] === '1'
    let end = fields.indexOf('', from)
    if (!isClean) end = endOfMessages(fields, end + 1)
    if (end === -1) throw new AppError('failed', 'git merge-tree gave an answer that has no end.')
    answers.push(parseAnswer(fields.slice(from, end)))
    at = end + 1
  }
  return answers
}

/** Each message is `<count> <path>… <type> <text>`; an empty field in the place of a count ends them. */
function endOfMessages(fields: readonly string[], from: number): number {
  let at = from
  while (at < fields.length && fields[at] !== '') at += Number(fields[at]) + 3
  return at < fields.length ? at : -1
}

/** Larger files get no line numbers. */
const largestText = 1024 * 1024

async function withLines(vault: OpenVault, merged: Merged): Promise<Merged> {
  const conflicts: Conflict[] = []
  for (const conflict of merged.conflicts) conflicts.push(await withLinesOf(vault, merged, conflict))
  return { ...merged, conflicts }
}

async function withLinesOf(vault: OpenVault, { tree }: Merged, conflict: Conflict): Promise<Conflict> {
  if (conflict.kind !== 'content' && conflict.kind !== 'add/add') return conflict
  const leaf = await findLeaf(vault.objects, tree, fromText(conflict.path))
  if (!leaf?.mode.startsWith('100')) return conflict
  const content = await findContent(vault, leaf, largestText)
  const lines = content ? conflictLines(content) : []
  return lines.length > 0 ? { ...conflict, lines } : conflict
}
