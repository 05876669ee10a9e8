/** When two entries of a tree, an index or a folder are the same file. */
interface Entry {
  readonly mode: string
  readonly oid: string
}

/** The same kind and the same content, or nothing on both sides. Permissions beyond the mode do not count. */
export function isSame(one: Entry | null | undefined, other: Entry | null | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode
}
