/** The disk usage of a file or a folder. Blocks count, since a file may have holes. */
import { lstatSync } from 'node:fs'
import { setImmediate as pause } from 'node:timers/promises'
import type { BytePath } from '../core/model/bytes.ts'
import { AppError } from '../core/model/errors.ts'
import type { HeldFolder } from '../core/ports/held.ts'
import { holdFolder } from './held.ts'

const blockSize = 512

/** So many entries are looked at before others get their turn. */
const atOnce = 2_000

/** What is deleted meanwhile, or may not be read or reached, counts 0. No path is too long: each folder is entered by its name. */
export async function readUsage(target: string): Promise<number> {
  const found = orNothing(() => lstatSync(target))
  if (!found?.isDirectory()) return (found?.blocks ?? 0) * blockSize
  const held = holdFolder(target)
  try {
    let [bytes, seen] = [found.blocks * blockSize, 0]
    for (const folders: BytePath[] = ['']; folders.length > 0; ) {
      const folder = folders.pop()!
      for (const { name, isFolder } of orNothing(() => held.list(folder)) ?? []) {
        const full = folder === '' ? name : `${folder}/${name}`
        bytes += readOwn(held, full)
        if (isFolder) folders.push(full)
        if (++seen % atOnce === 0) await pause()
      }
    }
    return bytes
  } finally {
    held.close()
  }
}

function readOwn(held: HeldFolder, file: BytePath): number {
  return orNothing(() => held.at(file, (full) => lstatSync(full).blocks * blockSize)) ?? 0
}

const nothingCodes = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (thrown) {
    // A link took the place of a folder.
    if (thrown instanceof AppError) return undefined
    if (!nothingCodes.includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    return undefined
  }
}
