/** Folders for the tests of faults and histories. The caller removes them. */
import { mkdtempSync } from 'node:fs'
import path from 'node:path'
import { memoryRoot } from '../support/temp-folders.ts'

/** In memory where there is some. */
export function memoryFolder(name: string): string {
  return mkdtempSync(path.join(memoryRoot(), `offshoot-${name}-`))
}
