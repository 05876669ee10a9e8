/** Merges of several landings that are tried out together: one git does all that are open at a time, and no merge is done twice. */
import { rounds } from '../base/rounds.ts'
import type { BytePath } from '../model/bytes.ts'
import type { Repo } from '../model/repo.ts'
import type { LeafChange, Merged, MergeInput } from '../model/tree.ts'
import { trivialMerge } from '../model/trivial-merge.ts'
import type { Contents } from '../ports/contents.ts'
import type { Trial } from '../ports/trials.ts'
import { type MergeMemory, mergeKey, type RememberedMerge } from './merge-memory.ts'

export interface MergeRounds extends Pick<Trial, 'contents' | 'publishing'> {
  /** Runs landings at once. None may wait for another one. */
  runAll<T>(landings: readonly (() => Promise<T>)[]): Promise<T[]>
}

export function mergeRounds(
  { contents, publishing, mergeMany }: Trial,
  repo: Repo,
  memory: MergeMemory,
  signal?: AbortSignal,
): MergeRounds {
  /** What this trial has merged itself, and the trees and contents that came of it. */
  const done = new Map<string, Merged>()
  const present = new Set<string>()
  /** Trees and contents of remembered merges, which the scratch folder has not, with the merge that makes them again. */
  const absent = new Map<string, MergeInput>()
  /** What remembered merges change, by our tree and the merged one. */
  const changed = new Map<string, RememberedMerge['changes']>()

  /**
   * Does the merges, after those that make what they read. `waiting` are merges that this is done for: what one of them makes
   * is in a checkout as well, or it could not be read here.
   */
  const mergeAll = async (
    inputs: readonly MergeInput[],
    waiting: ReadonlySet<string> = new Set(),
  ): Promise<void> => {
    if (inputs.length === 0) return
    const makers = await makersOf(inputs)
    const held = new Set([...waiting, ...inputs.map(mergeKey)])
    await mergeAll(
      [...makers.values()].filter((maker) => !held.has(mergeKey(maker))),
      held,
    )
    await mergeTogether(inputs.filter((input) => makers.has(mergeKey(input))))
    await mergeTogether(inputs.filter((input) => !makers.has(mergeKey(input))))
  }

  const mergeTogether = async (inputs: readonly MergeInput[]): Promise<void> => {
    for (const [at, merged] of (await mergeMany(repo, inputs, signal)).entries()) {
      const input = inputs[at]
      if (input) await keep(input, merged)
    }
  }

  /** The remembered merges that have to be done again, as these merges read contents of theirs. */
  const makersOf = async (inputs: readonly MergeInput[]): Promise<Map<string, MergeInput>> => {
    const again = new Map<string, MergeInput>()
    for (const { base, ours } of inputs) {
      for (const { to } of (await contents.compare(repo, base, ours)).values()) {
        const maker = to && absent.get(to.oid)
        if (maker) again.set(mergeKey(maker), maker)
      }
    }
    return again
  }

  const keep = async (input: MergeInput, merged: Merged): Promise<void> => {
    const { tree, conflicts } = merged
    const changes = await contents.compare(repo, input.ours, tree)
    const { base, ours, theirs } = input
    const sides = [await contents.compare(repo, base, ours), await contents.compare(repo, base, theirs)]
    // A content that one of the sides has, by whichever name, was not made here.
    const known = new Set(sides.flatMap(oidsOf))
    const made = Array.from(changes.values()).flatMap(({ to }) => (to && !known.has(to.oid) ? to.oid : []))
    memory.keep(input, { tree, conflicts, changes, made })
    done.set(mergeKey(input), merged)
    for (const oid of [tree, ...made]) {
      present.add(oid)
      absent.delete(oid)
    }
  }

  const { runAll, ask } = rounds<MergeInput, Merged>(async (inputs) => {
    await mergeAll([...new Map(inputs.map((input) => [mergeKey(input), input])).values()])
    return inputs.map((input) => done.get(mergeKey(input))) as Merged[]
  })

  const merge: Contents['merge'] = async (_, input) => {
    const merged = trivialMerge(input) ?? done.get(mergeKey(input))
    if (merged) return merged
    const known = memory.find(input)
    if (!known) return ask(input)
    // The first merge that makes a content stays its maker: what that one reads was made before, so that no two need each other.
    changed.set(`${input.ours} ${known.tree}`, known.changes)
    for (const oid of [known.tree, ...known.made])
      if (!present.has(oid) && !absent.has(oid)) absent.set(oid, input)
    return known
  }

  /** Makes sure that a tree or a content can be read. */
  const need = async (oid: string | null | undefined): Promise<void> => {
    const input = oid === null || oid === undefined ? undefined : absent.get(oid)
    if (input) await ask(input)
  }

  return {
    runAll,
    contents: {
      ...contents,
      merge,
      async compare(_, from, to) {
        const known = changed.get(`${from} ${to}`)
        if (known) return new Map(known)
        await need(from)
        await need(to)
        return contents.compare(repo, from, to)
      },
      async change(_, tree, changes) {
        await need(tree)
        return contents.change(repo, tree, changes)
      },
      async findLeaf(_, tree, file) {
        await need(tree)
        return contents.findLeaf(repo, tree, file)
      },
      async readContent(_, leaf) {
        await need(leaf.oid)
        return contents.readContent(repo, leaf)
      },
      async exportFile(_, leaf, target) {
        await need(leaf.oid)
        return contents.exportFile(repo, leaf, target)
      },
    },
    publishing: {
      ...publishing,
      async clean(_, task, changes, cancel) {
        for (const { to } of changes.values()) await need(to?.oid)
        return publishing.clean(repo, task, changes, cancel)
      },
    },
  }
}

function oidsOf(changes: ReadonlyMap<BytePath, LeafChange>): string[] {
  return Array.from(changes.values()).flatMap(({ from, to }) => [from, to].flatMap((leaf) => leaf?.oid ?? []))
}
