/** Where the tests make their temporary folders. */
import { accessSync, constants, statSync } from 'node:fs'
import os from 'node:os'

/** Set by temp-folders-setup.ts. */
export const memoryVariable = 'OFFSHOOT_TEST_MEMORY'

/** What the names of folders begin with that `fileFolder` makes. */
export const fileFolderPrefix = 'offshoot-file-'

/** In memory where there is some to write to: a disk would spend most of the time on syncing. */
export function memoryRoot(): string {
  const known = process.env[memoryVariable]
  if (known !== undefined) return known
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return os.tmpdir()
  }
}

/** Whether memory and the temporary folder are two file systems. */
export function hasTwoFileSystems(): boolean {
  return statSync(os.tmpdir()).dev !== statSync(memoryRoot()).dev
}
