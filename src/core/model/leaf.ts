/** Compares two entries of a tree, an index or a folder. */

interface Entry {
  readonly mode: string
  readonly oid: string
}

/** Whether both have the same mode and content, or neither exists. Permissions beyond the mode do not count. */
export function isSame(one: Entry | null | undefined, other: Entry | null | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode
}
