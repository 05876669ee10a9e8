/** On the disk: written is not enough, as a power cut shows. */
import { closeSync, fsync, openSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { run } from '../process/spawn.ts'

const flush = promisify(fsync)

async function syncOne(target: string): Promise<void> {
  const file = openSync(target, 'r')
  try {
    await flush(file)
  } finally {
    closeSync(file)
  }
}

/** From here on one call for the whole file system takes less time than one for each. */
const many = 64

/** They must be on one file system. */
export async function sync(targets: readonly string[]): Promise<void> {
  const [first] = targets
  if (first !== undefined && targets.length > many && (await syncFileSystem(first))) return
  await Promise.all(targets.map(syncOne))
}

/** False where the system has no such command. */
async function syncFileSystem(inside: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await run('sync', ['--file-system', path.dirname(inside)])).code === 0
}
