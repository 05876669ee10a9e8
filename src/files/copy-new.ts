/** Files and links that are made below a folder of an agent, through no link (docs/adr/0038-folders-held-open.md). */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { type BytePath, fromText } from '../core/model/bytes.ts'
import type { HeldFolder } from '../core/ports/held.ts'
import { canHold, holdFolder, placeOf } from './held.ts'

export async function copyNew(from: string, to: string, name: string, mode?: number): Promise<void> {
  const file = fromText(name)
  const [source, target] = [holdFolder(from), holdFolder(to)]
  try {
    target.makeParents(file)
    const found = source.at(file, (full) => lstatSync(full))
    if (found.isSymbolicLink()) {
      const text = source.at(file, (full) => readlinkSync(full, { encoding: 'buffer' }))
      target.at(file, (full) => symlinkSync(text, full))
    } else if (canHold()) await copyOpened(source, target, file, mode)
    else copyByPath(source, target, file, found, mode)
  } finally {
    source.close()
    target.close()
  }
}

export async function link(target: string, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const held = holdFolder(folder)
  try {
    const at = fromText(name)
    held.makeParents(at)
    held.at(at, (full) => symlinkSync(target, full))
  } finally {
    held.close()
  }
}

/** Both files are open before the first byte is copied, so that the time it takes does not matter. */
async function copyOpened(
  source: HeldFolder,
  target: HeldFolder,
  file: BytePath,
  mode: number | undefined,
): Promise<void> {
  // If a link or a pipe took the file's place, it is neither followed nor waited for.
  const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  await withOpened(source, file, reading, async (from) => {
    const found = fstatSync(from)
    if (!found.isFile())
      throw Object.assign(new Error(`ENOENT: no file any more: ${file}`), { code: 'ENOENT' })
    const making = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
    await withOpened(target, file, making, async (to) => {
      await copyFile(placeOf(from), placeOf(to), constants.COPYFILE_FICLONE)
      if (mode !== undefined) fchmodSync(to, mode)
      futimesSync(to, found.atime, found.mtime)
    })
  })
}

async function withOpened(
  held: HeldFolder,
  file: BytePath,
  flags: number,
  work: (opened: number) => Promise<void>,
): Promise<void> {
  const opened = held.at(file, (full) => openSync(full, flags, 0o600))
  try {
    await work(opened)
  } finally {
    closeSync(opened)
  }
}

function copyByPath(
  source: HeldFolder,
  target: HeldFolder,
  file: BytePath,
  { atime, mtime }: Stats,
  mode: number | undefined,
): void {
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE
  source.at(file, (from) => target.at(file, (to) => copyFileSync(from, to, flags)))
  if (mode !== undefined) target.at(file, (full) => chmodSync(full, mode))
  target.at(file, (full) => utimesSync(full, atime, mtime))
}
