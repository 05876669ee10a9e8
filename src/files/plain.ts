/** Small files of ours that somebody may have replaced: only a regular file is read or written, and nothing waits. */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'

/** O_NONBLOCK: opening a pipe would wait for its other end, for ever. */
const never = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Throws when it is missing, or no regular file. */
export function readPlain(file: string): string {
  return withPlain(file, constants.O_RDONLY, (handle) => readFileSync(handle, 'utf8'))
}

/** Writes it anew, for the owner alone. Throws when something else than a regular file is there. */
export function writePlain(file: string, content: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC
  withPlain(file, flags, (handle) => writeFileSync(handle, content))
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
