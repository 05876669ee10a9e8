/** Folders for the tests of faults and histories. */
import { mkdtempSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { memoryRoot } from '../support/temp-folders.ts'

const made = (folder: string, name = 'faults') => mkdtempSync(path.join(folder, `offshoot-${name}-`))

/** In memory where there is some. The caller removes it. */
export function memoryFolder(name?: string): string {
  return made(memoryRoot(), name)
}

/** A folder on another file system than `root`; undefined when this machine offers none. */
export function otherFileSystem(root: string): string | undefined {
  return statSync(os.tmpdir()).dev === statSync(root).dev ? undefined : made(os.tmpdir())
}
