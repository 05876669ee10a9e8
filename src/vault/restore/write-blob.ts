/** Writes a blob of the vault as a file. */
import { constants, writeFileSync } from 'node:fs'
import { chmod, open, symlink } from 'node:fs/promises'
import path from 'node:path'
import { limiter } from '../../core/base/concurrency.ts'
import type { Leaf } from '../../core/model/tree.ts'
import type { GitExec } from '../../git/exec.ts'
import type { ObjectReader } from '../../git/reader.ts'
import type { Objects } from '../objects/objects.ts'
import { bigFile, heavyFile } from '../objects/sizes.ts'

export interface BlobScope {
  readonly exec: GitExec
  readonly objects: Objects
  readonly reader: ObjectReader
  readonly vault: string
  readonly alternates: readonly string[]
}

/** One heavy file at a time is held in memory. */
export const oneByOne = limiter(1)

/** Writes a new file with that content. */
export async function writeBlob(scope: BlobScope, draft: Buffer, leaf: Leaf): Promise<void> {
  const mode = leaf.mode === '100755' ? 0o777 : 0o666
  const small = scope.objects.findSmall(leaf.oid)
  if (small) return writeFileSync(draft, small, { mode, flag: 'wx' })
  const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    const size = (await scope.reader.readSize(leaf.oid)) ?? 0
    const writeWhole = async () => handle.writeFile(await scope.objects.readObject(leaf.oid))
    if (size >= bigFile) await stream(scope, handle.fd, leaf.oid)
    else await (size >= heavyFile ? oneByOne(writeWhole) : writeWhole())
  } finally {
    await handle.close()
  }
}

async function stream(scope: BlobScope, fd: number, oid: string): Promise<void> {
  const { writeSync } = await import('node:fs')
  await scope.exec({
    args: ['cat-file', 'blob', oid],
    gitDir: scope.vault,
    alternates: scope.alternates,
    cwd: path.dirname(scope.vault),
    // Written synchronously, so that we hold no more in memory than git has just sent.
    onStdout: (chunk) => {
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at)
    },
  })
}

/** Writes a leaf, link or file, with the permissions that it carries. */
export async function exportFile(scope: BlobScope, leaf: Leaf, target: string): Promise<void> {
  if (leaf.mode === '120000') return symlink(await scope.objects.readObject(leaf.oid), target)
  await writeBlob(scope, Buffer.from(target), leaf)
  if (leaf.permissions !== undefined) await chmod(target, leaf.permissions)
}
