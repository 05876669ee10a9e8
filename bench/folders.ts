/** Folders of the benchmark: their place on the disk, and their names. */
import { randomBytes } from 'node:crypto'
import { run } from './spawn.ts'

/**
 * Lets ext4 put each new folder in here somewhere else on the disk. Without a journal it passes over the places of
 * files that were deleted within the last minute: making thousands right after deleting thousands takes ten times as
 * long. Other file systems do nothing of the kind, and have no `chattr`.
 */
export async function spread(folder: string): Promise<void> {
  await run('chattr', ['+T', folder], { cwd: folder, env: process.env }).catch(() => {})
}

/** A name that no round of this run or of the one before has had. */
export function newName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`
}
