/**
 * Git objects of the vault: written in process, one loose file each, and read by us or, if packed, through git
 * (docs/adr/0007-objects-in-process-index-never-rewritten.md).
 */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { constants, deflate, deflateSync, inflate, inflateSync } from 'node:zlib'
import { day } from '../../core/base/time.ts'
import { AppError } from '../../core/model/errors.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { ObjectReader } from '../../git/reader.ts'
import { parseTree, treeContent, type TreeEntry, type TreeStore } from './tree.ts'
import { lookOnly } from '../../git/look.ts'

const deflated = promisify(deflate)
const inflated = promisify(inflate)

export type Algorithm = 'sha1' | 'sha256'
type ObjectType = 'blob' | 'tree' | 'commit'

export interface Objects extends TreeStore {
  readonly oidBytes: number
  /** The id of a content, without writing it. */
  idOf(type: ObjectType, content: Uint8Array): string
  /** Writes unless the vault itself has the object: the user's repository may drop its own copy tomorrow. */
  put(type: ObjectType, content: Uint8Array): Promise<string>
  /** Makes the next `sync` include an object that git wrote into the vault. */
  written(oid: string): Promise<void>
  /** Makes every object put since the last call durable; git sees them from then on. */
  sync(): Promise<void>
  readonly isSynced: boolean
  readObject(oid: string): Promise<Buffer>
  /** Reads at once an object that is small and not packed; undefined for all others. */
  findSmall(oid: string): Buffer | undefined
}

function objectId(algorithm: Algorithm, type: ObjectType, content: Uint8Array): string {
  return createHash(algorithm).update(`${type} ${content.length}\0`).update(content).digest('hex')
}

const treesKept = 2_000

export function vaultObjects(
  files: FileSystem,
  vault: string,
  algorithm: Algorithm,
  reader: ObjectReader,
  onBroken: () => void = () => {},
): Objects {
  const oidBytes = algorithm === 'sha1' ? 20 : 32
  const unsynced = new Set<string>()
  /** Objects that are not durable yet and have a temporary name; `placing` are those that `sync` is renaming. */
  const drafts = new Map<string, string>()
  const placing = new Map<string, string>()
  const writing = new Map<string, Promise<void>>()
  let syncing: Promise<void> = Promise.resolve()
  let broken: unknown
  const trees = new Map<string, readonly TreeEntry[]>()
  const contents = recentContents()

  const remember = (oid: string, entries: readonly TreeEntry[]) => {
    if (trees.size >= treesKept) trees.delete(trees.keys().next().value ?? '')
    trees.set(oid, entries)
  }

  const put: Objects['put'] = async (type, content) => {
    const oid = objectId(algorithm, type, content)
    const file = loosePath(vault, oid)
    const drafting = writing.get(oid) ?? draft(oid, file, type, content)
    writing.set(oid, drafting)
    await drafting.finally(() => writing.delete(oid))
    return oid
  }

  const draft = async (oid: string, file: string, type: ObjectType, content: Uint8Array) => {
    if (drafts.has(oid) || placing.has(oid)) return
    if (!isFresh(file)) {
      const head = Buffer.from(`${type} ${content.length}\0`)
      drafts.set(
        oid,
        await files.writeDraft(file, await deflateObject(Buffer.concat([head, content])), 0o400),
      )
    }
    // Also if the object existed: its writer may have died before the name was on the disk.
    unsynced.add(path.dirname(file))
  }

  const readObject = async (oid: string) => {
    const drafted = drafts.get(oid) ?? placing.get(oid)
    const loose =
      (drafted && (await readFile(drafted, { flag: lookOnly }).catch(() => undefined))) ??
      (await readFile(loosePath(vault, oid), { flag: lookOnly }).catch(() => undefined))
    if (loose) {
      const whole = await inflated(loose)
      return whole.subarray(whole.indexOf(0) + 1)
    }
    const found = await reader.read(oid)
    if (found) return found
    throw new AppError('failed', `The object ${oid} is missing.`, {
      path: vault,
      hint: 'offshoot doctor says more.',
    })
  }

  const place = async (
    placed: readonly { oid: string; draft: string; target: string }[],
    folders: string[],
  ) => {
    if (placed.length > 0) await files.placeDrafts(placed)
    for (const { oid, draft } of placed) if (placing.get(oid) === draft) placing.delete(oid)
    if (folders.length > 0) await files.sync([...folders, path.join(vault, 'objects')])
  }

  return {
    oidBytes,
    idOf: (type, content) => objectId(algorithm, type, content),
    put,
    readObject,
    findSmall(oid) {
      const held = contents.find(oid)
      if (held) return held
      const found = findSmall(drafts.get(oid) ?? placing.get(oid)) ?? findSmall(loosePath(vault, oid))
      if (found) contents.hold(oid, found)
      return found
    },
    async written(oid) {
      const loose = loosePath(vault, oid)
      unsynced.add((await exists(loose)) ? path.dirname(loose) : path.join(vault, 'objects', 'pack'))
    },
    async sync() {
      if (broken !== undefined) throw broken
      const placed = Array.from(drafts, ([oid, draft]) => ({ oid, draft, target: loosePath(vault, oid) }))
      for (const { oid, draft } of placed) placing.set(oid, draft)
      drafts.clear()
      const folders = [...unsynced]
      unsynced.clear()
      const own = place(placed, folders)
      // The sync of another task may have taken some of our objects: they are durable only when it ends.
      const all = Promise.all([syncing, own]).then(() => {})
      syncing = all
      try {
        await all
      } catch (error) {
        // We cannot know which other callers rely on those objects: all of them must fail, and begin anew.
        broken = error
        onBroken()
        throw error
      } finally {
        if (syncing === all) syncing = Promise.resolve()
      }
    },
    get isSynced() {
      return drafts.size === 0 && placing.size === 0
    },
    async read(oid) {
      if (oid === null) return []
      const known = trees.get(oid)
      if (known) return known
      const entries = parseTree(await readObject(oid), oidBytes)
      remember(oid, entries)
      return entries
    },
    async write(entries) {
      const list = [...entries]
      const oid = await put('tree', treeContent(list))
      remember(oid, list)
      return oid
    },
  }
}

const small = 256 * 1024
const heldBytes = 4 * 1024 * 1024

/** Small contents that were read lately: a landing reads each file twice, once to inspect it and once to write it. */
function recentContents() {
  const held = new Map<string, Buffer>()
  let bytes = 0
  return {
    find: (oid: string) => held.get(oid),
    hold(oid: string, content: Buffer) {
      held.set(oid, content)
      bytes += content.length
      for (const [oldest, { length }] of held) {
        if (bytes <= heldBytes) return
        held.delete(oldest)
        bytes -= length
      }
    },
  }
}

function findSmall(file: string | undefined): Buffer | undefined {
  const looseStat = file && statSync(file, { throwIfNoEntry: false })
  if (!looseStat || looseStat.size > small) return undefined
  try {
    const whole = inflateSync(readFileSync(file), { maxOutputLength: small })
    return whole.subarray(whole.indexOf(0) + 1)
  } catch {
    // Its content is bigger than its file, or it has just been renamed.
    return undefined
  }
}

/** Deflating less than this takes less time than handing it to another thread. */
const tiny = 16 * 1024

async function deflateObject(whole: Buffer): Promise<Buffer> {
  const options = { level: constants.Z_BEST_SPEED }
  return whole.length < tiny ? deflateSync(whole, options) : deflated(whole, options)
}

function loosePath(vault: string, oid: string): string {
  return path.join(vault, 'objects', oid.slice(0, 2), oid.slice(2))
}

/** `compact` may be about to delete an older object that nothing refers to, so it is written again. */
export const freshMs = day

function isFresh(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs < freshMs
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined
}
