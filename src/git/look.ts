/** A look at what git keeps in small files, taken at once: by way of another thread each would take ten times as long. */
import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'

/** Undefined when there is no such file. One that may not be read is none that is gone: that throws. */
export function readSmall(file: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readFileSync(file, encoding)
  } catch (thrown) {
    if (['EACCES', 'EPERM', 'EIO'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    return undefined
  }
}

/** Of what a link leads to. */
export function statOf(target: string): Stats | undefined {
  return quietly(() => statSync(target, { throwIfNoEntry: false }))
}

export function lstatOf(target: string): Stats | undefined {
  return quietly(() => lstatSync(target, { throwIfNoEntry: false }))
}

/** Where a link leads to; undefined when it is none. */
export function readLink(target: string): string | undefined {
  return quietly(() => readlinkSync(target))
}

export function realPathOf(target: string): string | undefined {
  return quietly(() => realpathSync.native(target))
}

function quietly<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
