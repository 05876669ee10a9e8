/** Opens the SQLite file of the records: private, in WAL mode, synced (docs/adr/0003-sqlite-store.md). */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../core/model/errors.ts'
import { isNetwork } from '../core/base/network-fs.ts'
import { isBusy } from './errors.ts'
import { migrations } from './schema.ts'

const busyMs = 15_000

/** Opens the database, creates it if it is missing, and brings its schema up to date. */
export function openDatabase(path: string, fileSystem?: number): DatabaseSync {
  makePrivate(path)
  const db = new DatabaseSync(path, { timeout: busyMs })
  const network = isNetwork(fileSystem ?? statfsSync(dirname(path)).type)
  try {
    if (network) retryWhileBusy(() => db.exec(leaveWalMode))
    const version = retryWhileBusy(() => readVersion(db))
    if (version > migrations.length) throw tooNewError(version, path)
    if (version < migrations.length) migrate(db, path, network)
    db.exec('PRAGMA synchronous = FULL')
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

/** Runs one transaction. Writers need IMMEDIATE: a read that turns into a write fails at once if others write. */
export function inTransaction<T>(
  db: DatabaseSync,
  work: () => T,
  kind: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE',
): T {
  db.exec(`BEGIN ${kind}`)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (thrown) {
    // After a full disk, SQLite has already rolled back.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

/**
 * Makes the file readable by its owner only, from its first instant and whatever the umask; SQLite gives -wal and -shm
 * the same mode. We open only a new file: closing an existing one would drop the locks of this process's other
 * connections.
 */
function makePrivate(path: string): void {
  if (existsSync(path)) return
  const folder = dirname(path)
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) chmodSync(folder, 0o700)
  try {
    const file = openSync(path, 'wx', 0o600)
    fchmodSync(file, 0o600)
    closeSync(file)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
  // SQLite syncs the content of its files, not their names in the folder.
  syncFolder(folder)
  if (made !== undefined) syncFolder(dirname(made))
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function readVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

/**
 * A database that was moved to a network disk may still have its WAL; with an exclusive lock SQLite needs no -shm
 * file.
 */
const leaveWalMode =
  'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; PRAGMA user_version'

function migrate(db: DatabaseSync, path: string, network: boolean): void {
  if (!network) retryWhileBusy(() => db.exec('PRAGMA journal_mode = WAL'))
  inTransaction(db, () => {
    const version = readVersion(db)
    if (version > migrations.length) throw tooNewError(version, path)
    for (const migration of migrations.slice(version)) {
      if (typeof migration === 'string') db.exec(migration)
      else migration(db)
    }
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function tooNewError(version: number, path: string): AppError {
  const message = `${path} was written by a newer offshoot (schema ${version}; this one knows ${migrations.length}).`
  return new AppError('stateUnusable', message, {
    path,
    hint: 'Update offshoot, or name another folder in OFFSHOOT_HOME.',
  })
}

/** If many connections switch a new file to WAL at once, SQLite answers "busy" without waiting. */
function retryWhileBusy<T>(work: () => T): T {
  const deadline = Date.now() + busyMs
  for (;;) {
    try {
      return work()
    } catch (thrown) {
      if (!isBusy(thrown) || Date.now() > deadline) throw thrown
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 + Math.random() * 8)
    }
  }
}
