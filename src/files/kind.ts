/** The kind of thing at a path; apart from the other calls of files, because `list` loads it. */
import { lstatSync } from 'node:fs'
import type { FileKind } from '../core/model/file-kind.ts'

/** undefined when nothing is there. */
export async function readKind(target: string): Promise<FileKind | undefined> {
  const found = orUndefined(() => lstatSync(target))
  if (!found) return undefined
  if (found.isFile()) return 'file'
  if (found.isDirectory()) return 'folder'
  return found.isSymbolicLink() ? 'link' : 'other'
}

/** undefined when the path does not exist, also if one of its parents is a file. */
export function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (thrown) {
    return undefinedIfMissing(thrown)
  }
}

export function undefinedIfMissing(thrown: unknown): undefined {
  const { code } = thrown as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw thrown
}
