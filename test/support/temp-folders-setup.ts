/**
 * One temporary folder on the disk and one in memory for a whole run of the tests, and of every process that they start.
 * A run fails when a test has left something in them.
 */
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileFolderPrefix, memoryRoot, memoryVariable } from './temp-folders.ts'

/** Programs for Node, such as npm, keep compiled code there; our own command does not. */
const ofNode = 'node-compile-cache'

// Every project of the run calls it; the first one makes the folders.
export default function setup(): (() => void) | undefined {
  if (process.env[memoryVariable] !== undefined) return undefined
  const made = (parent: string) => {
    const folder = mkdtempSync(path.join(realpathSync(parent), 'offshoot-'))
    // As every temporary folder: other users get in, and each removes their own.
    chmodSync(folder, 0o1777)
    return folder
  }
  const [disk, memory] = [made(os.tmpdir()), made(memoryRoot())]
  process.env.TMPDIR = disk
  process.env[memoryVariable] = memory
  return () => {
    const left = [disk, memory].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name !== ofNode && !name.startsWith(fileFolderPrefix))
        .map((name) => path.join(folder, name)),
    )
    for (const folder of [disk, memory]) rmSync(folder, { recursive: true, force: true })
    if (left.length === 0) return
    throw new Error(`In the temporary folders the tests left:\n${left.join('\n')}`)
  }
}
