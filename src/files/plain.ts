/** Small files of ours that somebody may have replaced: only a regular file is read or written, and nothing waits. */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** O_NONBLOCK: opening a pipe would wait for its other end, for ever. */
const never = constants.O_NOFOLLOW | constants.O_NONBLOCK
const anew = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC

/** Throws when it is missing, or no regular file. */
export function readPlain(file: string): string {
  return withPlain(file, constants.O_RDONLY, (handle) => readFileSync(handle, 'utf8'))
}

/** Writes it anew, for the owner alone. Throws when something else than a regular file is there. */
export function writePlain(file: string, content: string): void {
  withPlain(file, anew, (handle) => writeFileSync(handle, content))
}

/** The same, and on the disk with its name when this returns. */
export function writeDurable(file: string, content: string): void {
  withPlain(file, anew, (handle) => {
    writeFileSync(handle, content)
    fsyncSync(handle)
  })
  const folder = openSync(path.dirname(file), constants.O_RDONLY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function withPlain<T>(file: string, flags: number, work: (handle: number) => T): T {
  const handle = openSync(file, flags | never, 0o600)
  try {
    if (!fstatSync(handle).isFile()) throw new Error(`${file} is no regular file`)
    return work(handle)
  } finally {
    closeSync(handle)
  }
}
