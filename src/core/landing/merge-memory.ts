/** Remembers merges by their trees, so that the same merge is not done twice. Losing them costs only time. */
import type { BytePath } from '../model/bytes.ts'
import type { Conflict, Leaf, LeafChange, Merged, MergeInput } from '../model/tree.ts'

export interface RememberedMerge extends Pick<Merged, 'tree' | 'conflicts'> {
  /** What the merge changes of our side. */
  readonly changes: ReadonlyMap<BytePath, LeafChange>
  /** Contents that only the merge has made: nobody keeps them. */
  readonly made: readonly string[]
}

export interface MergeMemory {
  find(input: MergeInput): RememberedMerge | undefined
  keep(input: MergeInput, merge: RememberedMerge): void
  /** All of it as text; undefined when there is nothing new. */
  text(): string | undefined
}

/** The oldest are forgotten first; a merge that changes more files is not kept at all. */
const [mostMerges, mostFiles] = [4_000, 500]

/** A change of the form changes the number: what an older version has kept then counts as lost. */
const version = 1

type Row = [
  key: string,
  tree: string,
  conflicts: readonly Conflict[],
  changes: readonly [path: BytePath, from: Leaf | null, to: Leaf | null][],
  made: readonly string[],
]

export function mergeMemory(text: string | undefined): MergeMemory {
  const known = new Map(rowsOf(text).map((row) => [row[0], row]))
  let isNew = false
  return {
    find(input) {
      const key = mergeKey(input)
      const row = known.get(key)
      if (!row) return undefined
      const [, tree, conflicts, changes, made] = row
      // The last used come last, as the first are forgotten.
      known.delete(key)
      known.set(key, row)
      return {
        tree,
        conflicts,
        changes: new Map(changes.map(([path, from, to]) => [path, { from, to }])),
        made,
      }
    },
    keep(input, { tree, conflicts, changes, made }) {
      if (changes.size > mostFiles) return
      isNew = true
      const key = mergeKey(input)
      const rows = Array.from(changes, ([path, { from, to }]): Row[3][number] => [path, from, to])
      known.delete(key)
      known.set(key, [key, tree, conflicts, rows, made])
    },
    text: () =>
      isNew ? JSON.stringify({ version, merges: [...known.values()].slice(-mostMerges) }) : undefined,
  }
}

/** The labels do not count: they show in conflict markers alone. */
export function mergeKey({ base, ours, theirs, attributes }: MergeInput): string {
  const rules = [...(attributes ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  return [base, ours, theirs, ...(rules.length > 0 ? [JSON.stringify(rules)] : [])].join(' ')
}

function rowsOf(text: string | undefined): readonly Row[] {
  try {
    const kept = JSON.parse(text ?? '{}') as { version?: number; merges?: readonly Row[] }
    return kept.version === version && Array.isArray(kept.merges) ? kept.merges : []
  } catch {
    // A crash cut it off.
    return []
  }
}
