/** Deletes a folder with all that is in it, but nothing behind a link or a mount (docs/adr/0038-folders-held-open.md). */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
} from 'node:fs'
import { unlink } from 'node:fs/promises'
import { eachOf } from '../core/base/concurrency.ts'
import { fromBytes } from '../core/model/bytes.ts'
import { quoted } from '../core/base/shell-quote.ts'
import { AppError } from '../core/model/errors.ts'
import { canHold, joined, openPlace, placeOf } from './held.ts'

/** A folder that is being emptied. */
interface Emptying {
  /** How paths in it begin. */
  readonly path: string | Buffer
  readonly mount: string
  readonly depth: number
  /** The outermost folder, and how many were moved up into it. */
  readonly top: { readonly path: string | Buffer; moved: number }
}

/** Each level takes a descriptor, so what lies deeper is moved up. */
const maxDepth = 64

/** A writer that does not stop may put something into the folder each time that it is empty. */
const maxRounds = 100

/** Answers when nothing is at that path any more. */
export async function removeFolder(target: string): Promise<void> {
  const opened = openFolder(target)
  if (opened === undefined) return removeFile(target)
  try {
    const mount = openFolder(joined(opened.path, '..'))
    mount?.close()
    const top = { path: opened.path, moved: 0 }
    await removeBelow(target, { path: target, mount: mount?.mount ?? '', depth: -1, top })
  } finally {
    opened.close()
  }
}

async function removeBelow(target: string | Buffer, above: Emptying): Promise<void> {
  const { top } = above
  for (let [round, moved] = [1, 0]; ; round++) {
    try {
      await enter(target, above)
      return rmdirSync(target)
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      // Some systems report EEXIST for a folder that is not empty.
      if (!['ENOTEMPTY', 'EEXIST'].includes(code) || round > maxRounds) throw thrown
      if (top.moved > moved) round = 0
      moved = top.moved
    }
  }
}

async function enter(target: string | Buffer, { mount, depth, top }: Emptying): Promise<void> {
  const opened = openFolder(target)
  // A file or a link took its place.
  if (opened === undefined) return removeFile(target)
  try {
    if (opened.mount !== mount) throw mountError(opened.readPath())
    await empty({ path: opened.path, mount, depth: depth + 1, top })
  } catch (thrown) {
    throw withOwnPath(thrown as NodeJS.ErrnoException, opened)
  } finally {
    opened.close()
  }
}

/** Deletes the files, then one folder after the other. */
async function empty(folder: Emptying): Promise<void> {
  makeWritable(folder.path)
  const entries = readdirSync(folder.path, { withFileTypes: true, encoding: 'buffer' })
  const pathOf = (name: Buffer) => joined(folder.path, fromBytes(name))
  const files = entries.filter((entry) => !entry.isDirectory())
  await eachOf(files, 32, ({ name }) => removeFile(pathOf(name)))
  for (const entry of entries) {
    if (!entry.isDirectory()) continue
    if (folder.depth < maxDepth) await removeBelow(pathOf(entry.name), folder)
    else moveUp(pathOf(entry.name), folder.top)
  }
}

/** The outermost folder is not empty then, and is looked through once more. */
function moveUp(target: string | Buffer, top: Emptying['top']): void {
  const opened = openFolder(target)
  // Without permission to write to it, a folder cannot be moved to another one.
  if (opened) makeWritable(opened.path)
  opened?.close()
  renameSync(target, joined(top.path, randomUUID()))
  top.moved += 1
}

async function removeFile(target: string | Buffer): Promise<void> {
  await unlink(target).catch((thrown: NodeJS.ErrnoException) => {
    // EISDIR: a folder took its place, which the next round finds.
    if (thrown.code !== 'ENOENT' && thrown.code !== 'EISDIR') throw thrown
  })
}

interface Opened {
  readonly path: string | Buffer
  /** Which mount it is in. A folder of the same file system can be mounted, too, so the device alone does not tell. */
  readonly mount: string
  /** Where it is at the moment. */
  readPath(): string
  close(): void
}

/** undefined when it is no folder, or not there. */
function openFolder(target: string | Buffer): Opened | undefined {
  try {
    if (canHold()) return openedAs(openPlace(target))
    const found = lstatSync(target)
    const [mount, readPath] = [String(found.dev), () => target.toString()]
    return found.isDirectory() ? { path: target, mount, readPath, close: () => {} } : undefined
  } catch (thrown) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    return undefined
  }
}

function openedAs(descriptor: number): Opened {
  const path = placeOf(descriptor)
  const about = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
  return {
    path,
    mount: /^mnt_id:.*$/m.exec(about)?.[0] ?? '',
    readPath: () => readlinkSync(path),
    close: () => closeSync(descriptor),
  }
}

/** An error names the path as the user knows it. */
function withOwnPath(error: NodeJS.ErrnoException, { path, readPath }: Opened): Error {
  if (error.path?.startsWith(`${path.toString()}/`) !== true) return error
  const own = error.path.replace(path.toString(), readPath)
  error.message = error.message.replace(error.path, () => own)
  return Object.assign(error, { path: own })
}

/** From a folder that its owner may not write, as in Go's module cache, nothing can be deleted. */
function makeWritable(folder: string | Buffer): void {
  const { mode } = statSync(folder)
  if ((mode & 0o700) !== 0o700) chmodSync(folder, (mode & 0o7777) | 0o700)
}

function mountError(folder: string): AppError {
  return new AppError('cleanUpFailed', `Something is mounted at ${folder}, which is to be deleted.`, {
    path: folder,
    hint: `Unmount it, then repeat: umount ${quoted(folder)}`,
  })
}
