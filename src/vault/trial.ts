/**
 * A vault to try things out in: it reads all that the vault has, and everything that is written goes to a scratch folder, which
 * is removed in the end (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md).
 */
import path from 'node:path'
import { limiter } from '../core/base/concurrency.ts'
import { scratchIn } from '../core/model/layout.ts'
import type { GitExec } from '../git/exec.ts'
import type { ObjectReader } from '../git/reader.ts'
import type { Objects } from './objects/objects.ts'
import { scratchObjects } from './objects/scratch-objects.ts'
import type { OpenVault } from './open.ts'

let counter = 0

interface TrialPlace {
  readonly folder: string
  alone<T>(work: () => Promise<T>): Promise<T>
}

export async function tryOut<T>(
  vault: OpenVault,
  work: (trial: OpenVault, place: TrialPlace) => Promise<T>,
): Promise<T> {
  const folder = scratchIn(vault.vault, `trial-${process.pid}-${counter++}`)
  const objectDir = path.join(folder, 'objects')
  await vault.files.makeFolder(objectDir, 0o700)
  const turns = oneGit(vault.reader)
  const { objects: kept } = vault
  const readObject: Objects['readObject'] = (oid) => turns.read(() => kept.readObject(oid))
  const read: Objects['read'] = (oid) => turns.read(() => kept.read(oid))
  const { oidBytes, idOf, findSmall } = kept
  const objects = scratchObjects({ oidBytes, idOf, findSmall, readObject, read }, objectDir)
  const reader = readerOver(objects, (oid) => turns.read(() => vault.reader.readSize(oid)))
  const exec = execInto(vault, objectDir, objects, turns)
  try {
    return await work({ ...vault, objects, exec, reader }, { folder, alone: turns.alone })
  } finally {
    await vault.files.remove(folder)
  }
}

interface Turns {
  /** Runs work that starts a git, when no other git runs. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Reads through the git that answers reads, when no other git runs. */
  read<T>(work: () => Promise<T>): Promise<T>
}

/** One git at a time. The one that answers reads ends before another one starts, and starts again with the next read. */
function oneGit(reader: ObjectReader): Turns {
  const oneByOne = limiter(1)
  const reading = new Set<Promise<unknown>>()
  let running: Promise<unknown> | undefined
  return {
    alone: (work) =>
      oneByOne(async () => {
        while (reading.size > 0) await Promise.allSettled(reading)
        const all = reader.end().then(work)
        running = all.catch(() => {})
        return all.finally(() => (running = undefined))
      }),
    async read(work) {
      while (running) await running
      const answer = work()
      reading.add(answer)
      return answer.finally(() => reading.delete(answer))
    },
  }
}

/** Git writes objects to the scratch folder, and reads those of the vault and of the user's repository as well. */
function execInto(
  { vault, alternates, exec }: OpenVault,
  objectDir: string,
  objects: Objects,
  { alone }: Turns,
): GitExec {
  const lenders = [path.join(vault, 'objects'), ...alternates]
  return (call) =>
    alone(async () => {
      call.signal?.throwIfAborted()
      await objects.sync()
      if (!call.gitDir?.startsWith(vault)) return exec(call)
      return exec({
        ...call,
        objectDir,
        alternates: [...new Set([...lenders, ...(call.alternates ?? [])])],
        durable: false,
        settings: [...(call.settings ?? []), ['core.fsync', 'none']],
      })
    })
}

function readerOver(objects: Objects, readSize: ObjectReader['readSize']): ObjectReader {
  return {
    read: (oid) => objects.readObject(oid).catch(() => undefined),
    readSize: async (oid) => objects.findSmall(oid)?.length ?? readSize(oid),
    close: () => {},
    end: async () => {},
  }
}
