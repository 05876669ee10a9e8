/** Syncs files and folders to the disk: a power cut loses writes that were not synced. */
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

/** From this number on, one sync of the whole file system is quicker than one per file. */
const manyTargets = 64

/** All targets must be on one file system. The disk cannot be told to stop: who cancels leaves it alone with the rest. */
export async function sync(targets: readonly string[], signal?: AbortSignal): Promise<void> {
  await orAborted(syncAll(targets), signal)
}

async function syncAll(targets: readonly string[]): Promise<void> {
  const [first] = targets
  if (first !== undefined && targets.length > manyTargets && (await syncFileSystem(first))) return
  await Promise.all(targets.map(syncOne))
}

function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const forget = () => signal.removeEventListener('abort', onAbort)
    work.then(resolve, reject).finally(forget)
  })
}

/** False where the system has no such command. */
async function syncFileSystem(inside: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await run('sync', ['--file-system', path.dirname(inside)])).code === 0
}
