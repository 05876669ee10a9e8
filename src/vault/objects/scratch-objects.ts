/** Objects of a scratch folder, on top of those of a vault. They need not survive a crash, so nothing is synced. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { constants, deflateSync, inflateSync } from 'node:zlib'
import type { Objects } from './objects.ts'
import { parseTree, treeContent, type TreeEntry } from './tree.ts'

/** So many bytes wait in memory for a git that reads them: most of them are small trees, and often no git is needed. */
const mostWaiting = 8 * 1024 * 1024

/** What a scratch folder needs of the objects below it: it never writes there. */
type Parent = Pick<Objects, 'oidBytes' | 'idOf' | 'readObject' | 'findSmall' | 'read'>

/** New objects are kept in memory until `sync` writes them to `folder`; all others are the parent's. */
export function scratchObjects(parent: Parent, folder: string): Objects {
  const waiting = new Map<string, { readonly type: string; readonly content: Uint8Array }>()
  const trees = new Map<string, readonly TreeEntry[]>()
  let bytes = 0

  const flush = () => {
    for (const [oid, { type, content }] of waiting) writeLoose(folder, oid, type, content)
    waiting.clear()
    bytes = 0
  }
  const put: Objects['put'] = async (type, content) => {
    const oid = parent.idOf(type, content)
    if (waiting.has(oid)) return oid
    waiting.set(oid, { type, content })
    bytes += content.length
    if (bytes > mostWaiting) flush()
    return oid
  }
  const find = (oid: string): Buffer | undefined => {
    const known = waiting.get(oid)
    return known ? Buffer.from(known.content) : findLoose(folder, oid)
  }
  return {
    oidBytes: parent.oidBytes,
    idOf: parent.idOf,
    put,
    written: async () => {},
    sync: async () => flush(),
    get isSynced() {
      return waiting.size === 0
    },
    readObject: async (oid) => find(oid) ?? parent.readObject(oid),
    findSmall: (oid) => find(oid) ?? parent.findSmall(oid),
    async read(oid) {
      if (oid === null) return []
      const known = trees.get(oid)
      if (known) return known
      const own = find(oid)
      const entries = own ? parseTree(own, parent.oidBytes) : await parent.read(oid)
      trees.set(oid, entries)
      return entries
    },
    async write(entries) {
      const list = [...entries]
      const oid = await put('tree', treeContent(list))
      trees.set(oid, list)
      return oid
    },
  }
}

function loosePath(folder: string, oid: string): string {
  return path.join(folder, oid.slice(0, 2), oid.slice(2))
}

function writeLoose(folder: string, oid: string, type: string, content: Uint8Array): void {
  const file = loosePath(folder, oid)
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  writeFileSync(file, deflateSync(whole, { level: constants.Z_BEST_SPEED }), { mode: 0o600 })
}

function findLoose(folder: string, oid: string): Buffer | undefined {
  try {
    const whole = inflateSync(readFileSync(loosePath(folder, oid)))
    return whole.subarray(whole.indexOf(0) + 1)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}
