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

/** Opens the database, makes it if need be, and brings its schema up to date. */
export function openDatabase(path: string, fileSystem?: number): DatabaseSync {
  makePrivate(path)
  const db = new DatabaseSync(path, { timeout: busyMs })
  const network = isNetwork(fileSystem ?? statfsSync(dirname(path)).type)
  try {
    if (network) patiently(() => db.exec(withoutSharedMemory))
    const version = patiently(() => readVersion(db))
    if (version > migrations.length) throw tooNew(version, path)
    if (version < migrations.length) migrate(db, path, network)
    db.exec('PRAGMA synchronous = FULL')
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

/** One transaction. IMMEDIATE where it writes: a read that later turns into a write fails at once when others write. */
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
    // A full disk has already rolled it back.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

/**
 * The file is ours alone from its first instant, whatever the umask; SQLite gives -wal and -shm the same mode.
 * It is opened here only when it is new: closing it would drop the locks of another connection of this process.
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
  // SQLite syncs what is in the files, not that they are there.
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

/** A database that was moved there may still have its log; alone with it, SQLite can do without that memory. */
const withoutSharedMemory =
  'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; PRAGMA user_version'

function migrate(db: DatabaseSync, path: string, network: boolean): void {
  if (!network) patiently(() => db.exec('PRAGMA journal_mode = WAL'))
  inTransaction(db, () => {
    const version = readVersion(db)
    if (version > migrations.length) throw tooNew(version, path)
    for (const migration of migrations.slice(version)) {
      if (typeof migration === 'string') db.exec(migration)
      else migration(db)
    }
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function tooNew(version: number, path: string): AppError {
  const message = `${path} was written by a newer offshoot (schema ${version}; this one knows ${migrations.length}).`
  return new AppError('stateUnusable', message, {
    path,
    hint: 'Update offshoot, or name another folder in OFFSHOOT_HOME.',
  })
}

/** SQLite answers "busy" at once, without its own wait, when many connections turn a new file to WAL together. */
function patiently<T>(work: () => T): T {
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
