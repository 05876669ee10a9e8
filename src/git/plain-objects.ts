/** Whether git can read an object folder that an agent writes without waiting for ever. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'

/**
 * True if the folder holds only files, in the folders that git has there. A pipe in the place of a file would block git
 * until somebody writes to it, and a link leads elsewhere. An agent can still put one there a moment later: then the
 * deadline of the call ends git (docs/adr/0041-limits-and-deadlines.md).
 */
export async function isPlainObjects(folder: string): Promise<boolean> {
  const entries = await entriesOf(folder)
  const isPlain = await Promise.all(
    (entries ?? []).map(async (entry) => {
      if (!entry.isDirectory()) return entry.isFile()
      const inside = await entriesOf(path.join(folder, entry.name))
      return inside !== undefined && inside.every((file) => file.isFile())
    }),
  )
  return entries !== undefined && isPlain.every(Boolean)
}

async function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch(() => undefined)
}
