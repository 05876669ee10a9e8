import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll } from 'vitest'
import { fileFolderPrefix } from './temp-folders.ts'

/**
 * A folder for all tests of a file, made when the file is loaded and removed after its last test. Where a filter leaves none
 * of its tests, vitest calls no hook, and the end of the run removes it.
 */
export function fileFolder(parent: string): string {
  const folder = mkdtempSync(path.join(parent, fileFolderPrefix))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
