/** Where the tests of this folder play. */
import { accessSync, constants, mkdtempSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const made = (folder: string, name = 'faults') => mkdtempSync(path.join(folder, `offshoot-${name}-`))

/** Memory where there is some to write to: a disk would spend most of the time on syncing. */
export function stageRoot(name?: string): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return made('/dev/shm', name)
  } catch {
    return made(os.tmpdir(), name)
  }
}

/** A folder on another file system than `root`; undefined when this machine offers none. */
export function otherFileSystem(root: string): string | undefined {
  return statSync(os.tmpdir()).dev === statSync(root).dev ? undefined : made(os.tmpdir())
}
