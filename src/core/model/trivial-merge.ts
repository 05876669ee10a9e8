/** Merges of trees that need no git. */
import type { Merged, MergeInput } from './tree.ts'

/** The result where one side has changed nothing, or both the same; undefined for any other merge. */
export function trivialMerge({ base, ours, theirs }: MergeInput): Merged | undefined {
  if (ours === base) return { tree: theirs, conflicts: [] }
  if (theirs === base || theirs === ours) return { tree: ours, conflicts: [] }
  return undefined
}
