/** Locks between processes (docs/adr/0004-locks-by-open-transaction.md). */
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../core/model/errors.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { LockOptions, Locks } from '../core/ports/locks.ts'
import type { Owner } from '../core/model/task.ts'
import { findHolder, forgetHolder, recordHolder } from './holder.ts'

const patienceMs = 30_000
const firstPauseMs = 2
const longestPauseMs = 25

/** Keeps the connections reachable: if work never ends, the garbage collector would close them and free the locks. */
const heldConnections = new Set<DatabaseSync>()

/**
 * A lock is an open exclusive transaction on an empty file, which the kernel ends together with its process. Two
 * rules:
 * - Only SQLite opens the file. POSIX drops all locks of a process on a file as soon as it closes any handle of it; SQLite
 *   counts its own handles, and cannot count ours. Hence the holder's name is in a second file.
 * - The file is never deleted. A waiter may have it open already: it would then lock the deleted file, while the next process
 *   locks a new file of the same name, and both would hold the lock. The price is an empty file per name.
 */
export function sqliteLocks(folder: string, self: () => Owner, clock: Clock): Locks {
  const fileOf = (name: string) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return path.join(folder, fileName(name))
  }
  const workUnder = async <T>(db: DatabaseSync, file: string, verb: string, work: () => Promise<T>) => {
    heldConnections.add(db)
    try {
      recordHolder(file, { pid: self().pid, verb, since: clock.now().toISOString() })
      return await work()
    } finally {
      forgetHolder(file)
      heldConnections.delete(db)
      db.close()
    }
  }
  return {
    async hold(name, { verb, waitMs = patienceMs, signal }, work) {
      const file = fileOf(name)
      const db = await tryAcquire(file, { verb, waitMs, signal })
      if (!db) throw timeoutError(file, name, waitMs)
      return workUnder(db, file, verb, work)
    },
    async tryHold(name, { verb, waitMs = 0, signal }, work) {
      const file = fileOf(name)
      const db = await tryAcquire(file, { verb, waitMs, signal })
      return db ? { value: await workUnder(db, file, verb, work) } : 'busy'
    },
  }
}

/** Only the hash tells names apart; the readable part is for a person who looks into the folder. */
function fileName(name: string): string {
  const readable = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return `${readable.slice(0, 40)}-${createHash('sha256').update(name).digest('hex').slice(0, 24)}.lock`
}

/** The lock, taken; undefined if another holder still has it after the wait. */
async function tryAcquire(
  file: string,
  { verb, waitMs, signal }: LockOptions & { readonly waitMs: number },
): Promise<DatabaseSync | undefined> {
  const deadline = performance.now() + waitMs
  const db = openLock(file)
  try {
    for (let wait = firstPauseMs; ; wait = Math.min(wait * 1.5, longestPauseMs)) {
      if (signal?.aborted) throw cancelledError(verb)
      if (tryLock(db, file)) return db
      const left = deadline - performance.now()
      if (left <= 0) break
      // A random pause: waiters that began together would otherwise always ask together.
      await pause(Math.min(wait * (0.5 + Math.random() / 2), left), undefined, { signal }).catch(() => {})
    }
  } catch (thrown) {
    db.close()
    throw thrown
  }
  db.close()
  return undefined
}

function openLock(file: string): DatabaseSync {
  try {
    makeNew(file)
    return new DatabaseSync(file, { timeout: 0 })
  } catch (thrown) {
    throw unusableError(file, thrown)
  }
}

/** For the user alone, as SQLite makes files for everybody. A file that is there is not opened: see the first rule. */
function makeNew(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
}

const busy = 5

/** The transaction writes nothing, so the journal in memory stays empty: no second file, no sync. */
function tryLock(db: DatabaseSync, file: string): boolean {
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return true
  } catch (thrown) {
    if (((thrown as { errcode?: number }).errcode ?? 0) % 256 === busy) return false
    throw unusableError(file, thrown)
  }
}

function timeoutError(file: string, name: string, waitMs: number): AppError {
  const holder = findHolder(file)
  const by = holder ? `\`${holder.verb}\`, process ${holder.pid}, since ${holder.since}` : 'another process'
  const after = waitMs > 0 ? ` after ${waitMs / 1000} s of waiting` : ''
  return new AppError('locked', `The lock ${name} is held by ${by}${after}.`, {
    data: { lock: name, holder },
  })
}

function cancelledError(verb: string): AppError {
  return new AppError('cancelled', `Cancelled while \`${verb}\` waited for a lock.`)
}

function unusableError(file: string, cause: unknown): AppError {
  return new AppError('stateUnusable', `The lock file ${file} cannot be used.`, { path: file, cause })
}
