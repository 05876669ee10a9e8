/** Folders as comparable values. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

/**
 * Each path with its mode and the id that git would give to its content. Folders count only by what is in them. Names
 * are bytes, one character each.
 */
export type Tree = Readonly<Record<string, string>>

export function readTree(folder: string, isSkipped: (name: string) => boolean = () => false): Tree {
  const tree: Record<string, string> = {}
  const walk = (below: string) => {
    for (const entry of bytesIn(folder, below)) {
      const name = path.join(below, entry)
      if (isSkipped(name)) continue
      const full = bytePath(folder, name)
      const found = lstatSync(full, { throwIfNoEntry: false })
      // Somebody who outlived us may be at work there.
      if (!found) continue
      if (found.isDirectory()) walk(name)
      else if (found.isSymbolicLink()) tree[name] = `link ${blobId(readlinkSync(full, 'buffer'))}`
      else if (!found.isFile()) tree[name] = 'special'
      else tree[name] = `${(found.mode & 0o777).toString(8)} ${blobId(readFileSync(full))}`
    }
  }
  walk('')
  return tree
}

function bytePath(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
}

function bytesIn(folder: string, below: string): string[] {
  try {
    const names = readdirSync(bytePath(folder, below), { encoding: 'buffer' })
    return names.map((name) => name.toString('latin1')).sort()
  } catch {
    return []
  }
}

/** Empty when there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

export function blobId(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** What the files hold, whatever they are called. */
export function contentsOf(tree: Tree): string[] {
  return Object.values(tree).map((value) => value.slice(value.indexOf(' ') + 1))
}

/** One line per path that is not the same in both. */
export function difference(before: Readonly<Record<string, unknown>>, after: typeof before): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [old, now] = [before[name], after[name]].map((value) => JSON.stringify(value))
    if (old === now) return []
    return [`${name} ${old === undefined ? 'appeared' : now === undefined ? 'vanished' : 'changed'}`]
  })
}
