/**
 * Reads git's own small files synchronously: the way through a thread would take ten times as long
 * (docs/adr/0023-microseconds-at-once.md).
 */
import {
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'

/** How a file that an agent may have replaced is opened: no link is followed, and a pipe does not make us wait. */
export const lookOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Undefined when the file does not exist. Throws when it exists and may not be read. */
export function readSmall(file: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readFileSync(file, encoding)
  } catch (thrown) {
    if (['EACCES', 'EPERM', 'EIO'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    return undefined
  }
}

/** The stat of the target of a link. */
export function statOf(target: string): Stats | undefined {
  return undefinedOnError(() => statSync(target, { throwIfNoEntry: false }))
}

export function lstatOf(target: string): Stats | undefined {
  return undefinedOnError(() => lstatSync(target, { throwIfNoEntry: false }))
}

/** The target of a link; undefined when it is no link. */
export function readLink(target: string): string | undefined {
  return undefinedOnError(() => readlinkSync(target))
}

export function realPathOf(target: string): string | undefined {
  return undefinedOnError(() => realpathSync.native(target))
}

/** The names in a folder; undefined when it is none, or may not be read. */
export function entriesOf(folder: string): string[] | undefined {
  return undefinedOnError(() => readdirSync(folder))
}

function undefinedOnError<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
