/** Folders as plain values: what the generators edit, the reference merges and the disk is compared with. */
import { createHash } from 'node:crypto'

export interface Entry {
  readonly mode: '100644' | '100755' | '120000'
  /** The content; of a link, where it points. */
  readonly text: string
}

export type Tree = ReadonlyMap<string, Entry>

export function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.mode === b?.mode && a?.text === b?.text
}

/** Path → new entry, undefined where it goes. */
export type Changes = ReadonlyMap<string, Entry | undefined>

export function changes(from: Tree, to: Tree): Changes {
  const paths = new Set([...from.keys(), ...to.keys()])
  return new Map(
    [...paths].filter((path) => !isSame(from.get(path), to.get(path))).map((path) => [path, to.get(path)]),
  )
}

export function changed(tree: Tree, by: Changes): Tree {
  const result = new Map(tree)
  for (const [path, entry] of by) {
    if (entry) result.set(path, entry)
    else result.delete(path)
  }
  return result
}

export function without(tree: Tree, leaveOut: (path: string) => boolean): Tree {
  return new Map([...tree].filter(([path]) => !leaveOut(path)))
}

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`)
}

/** `<mode> <blob id>` by path, sorted: as git lists an index or a tree. */
export function listed(tree: Tree): Record<string, string> {
  const entries = [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([path, { mode, text }]) => [path, `${mode} ${blobId(text)}`]))
}

function blobId(text: string): string {
  const content = Buffer.from(text)
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
