import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { flawsOf } from '../../src/core/model/seal.ts'
import { storeError } from '../../src/store/errors.ts'
import { isNetwork } from '../../src/core/base/network-fs.ts'
import { openDatabase } from '../../src/store/open.ts'
import { migrations } from '../../src/store/schema.ts'
import { sqliteStores } from '../../src/store/sqlite.ts'
import { collected, sampleRepo, storeContract } from './store.contract.ts'

storeContract({
  name: 'sqlite',
  open: sqliteStores,
  elsewhere: { module: new URL('../../src/store/sqlite.ts', import.meta.url), factory: 'sqliteStores' },
})

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (thrown) {
    return thrown
  }
  throw new Error('nothing was thrown')
}

describe('the sqlite file', () => {
  let folder: string
  let file: string

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'offshoot-store-'))
    file = path.join(folder, 'home', 'state.db')
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const mode = (target: string) => (statSync(target).mode & 0o777).toString(8)

  test.each([0o000, 0o022, 0o277])('is for its user alone, whatever the umask (%o)', async (umask) => {
    const before = process.umask(umask)
    try {
      const { notes, close } = sqliteStores(file)
      await notes.put('k', 'v')
      expect(mode(path.dirname(file))).toBe('700')
      expect([file, `${file}-wal`, `${file}-shm`].map(mode)).toEqual(['600', '600', '600'])
      await close()
    } finally {
      process.umask(before)
    }
  })

  test('has a write-ahead log, so that readers never wait for a writer', async () => {
    const { notes, close } = sqliteStores(file)
    const writing = new DatabaseSync(file)
    writing.exec("BEGIN IMMEDIATE; INSERT INTO notes VALUES ('k', 'v')")
    expect(await notes.find('k')).toBeUndefined()
    writing.exec('COMMIT')
    expect(await notes.find('k')).toBe('v')
    writing.close()
    await close()
  })

  test('R8: of the first schema is brought up to date: every record stays, and the log is sealed', async () => {
    mkdirSync(path.dirname(file))
    const db = new DatabaseSync(file)
    db.exec(`${migrations[0] as string}; PRAGMA user_version = 1`)
    db.exec("INSERT INTO repos VALUES ('repo1', 'app', '/app/.git', 'm', '2026')")
    db.exec(
      `INSERT INTO tasks VALUES (1, 'u1', 'repo1', 'A', 'active', 1, 0, 0, '/a', '2026', '2026', 2, '{"uid":"u1"}')`,
    )
    const event = db.prepare("INSERT INTO events (uid, n, at, type, event) VALUES ('u1', ?, '2026', ?, ?)")
    for (const [n, type] of ['start.begun', 'start.done'].entries())
      event.run(n + 1, type, JSON.stringify({ type }))
    db.close()
    const { store, close } = sqliteStores(file)
    expect(await store.findTaskByUid('u1')).toEqual({ uid: 'u1' })
    const log = await collected(store.readLog())
    expect(log.map(({ type }) => type)).toEqual(['start.begun', 'start.done'])
    expect((await flawsOf(log, await store.readPosition())).flaws).toEqual([])
    await close()
  })

  test('of a newer schema is refused with WT_022 and stays as it is', async () => {
    await sqliteStores(file).close()
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 999')
    db.close()
    const before = readFileSync(file)
    expect(() => sqliteStores(file)).toThrow(
      expect.objectContaining({
        code: 'WT_022',
        path: file,
        message: expect.stringContaining('newer offshoot'),
      }),
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test.each(['short', 'garbage '.repeat(10_000)])(
    'that is no database is refused with WT_022 and stays as it is',
    (garbage) => {
      mkdirSync(path.dirname(file))
      writeFileSync(file, garbage)
      expect(() => sqliteStores(file)).toThrow(
        expect.objectContaining({
          code: 'WT_022',
          path: file,
          hint: expect.stringContaining('offshoot repair --rebuild'),
          data: { damaged: true },
        }),
      )
      expect(readFileSync(file, 'utf8')).toBe(garbage)
    },
  )

  test('that is damaged behind its first page is refused with WT_022 when the damage is read', async () => {
    const { repos, close } = sqliteStores(file)
    await repos.put(sampleRepo)
    await close()
    const bytes = readFileSync(file)
    writeFileSync(file, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xff)]))
    const damaged = sqliteStores(file)
    await expect(damaged.repos.readAll()).rejects.toThrow(
      expect.objectContaining({ code: 'WT_022', path: file }),
    )
    await damaged.close()
  })

  test('that cannot be opened gives WT_022', () => {
    mkdirSync(file, { recursive: true })
    expect(() => sqliteStores(file)).toThrow(expect.objectContaining({ code: 'WT_022', path: file }))
  })

  test('that cannot grow gives WT_014', () => {
    const db = new DatabaseSync(':memory:')
    db.exec('PRAGMA max_page_count = 1')
    const full = thrownBy(() => db.exec('CREATE TABLE t (a)'))
    expect(storeError(full, file)).toMatchObject({ code: 'WT_014', path: file, cause: full })
    db.close()
  })

  test('is asked through an index for what every command asks', async () => {
    await sqliteStores(file).close()
    const db = new DatabaseSync(file)
    const plan = (where: string) => {
      const [step] = db.prepare(`EXPLAIN QUERY PLAN SELECT summary FROM tasks WHERE ${where}`).all()
      return String(step?.detail).replace(/.* INDEX (\w+).*/, '$1')
    }
    expect(plan('hidden = 0 AND open = 1 ORDER BY created_at')).toBe('tasks_open_id')
    expect(plan('hidden = 0 AND open = 1 AND repo = ? ORDER BY created_at')).toBe('tasks_by_repo')
    expect(plan('repo = ? AND lower(id) = lower(?) AND open = 1 AND id = ?')).toBe('tasks_open_id')
    expect(plan('repo = ? AND id = ? AND hidden = 0 ORDER BY created_at DESC, seq DESC')).toBe('tasks_by_id')
    expect(plan('path = ? AND hidden = 0')).toBe('tasks_by_path')
    expect(plan('pending = 1 ORDER BY seq')).toBe('tasks_pending')
    db.close()
  })

  test('R7: is not trusted with a WAL where several machines may write to it, also when it had one before', async () => {
    expect([isNetwork(0x6969), isNetwork(0xef53)]).toEqual([true, false])
    const mode = (db: DatabaseSync) => db.prepare('PRAGMA journal_mode').get()?.journal_mode
    const nfs = 0x6969
    const fresh = openDatabase(path.join(folder, 'fresh.db'), nfs)
    expect(mode(fresh)).toBe('delete')
    fresh.close()
    const { repos, close } = sqliteStores(file)
    await repos.put(sampleRepo)
    await close()
    const local = openDatabase(file)
    expect(mode(local)).toBe('wal')
    local.close()
    const [one, two] = [openDatabase(file, nfs), openDatabase(file, nfs)]
    expect(mode(one)).toBe('delete')
    for (const db of [one, two]) db.exec('UPDATE repos SET name = name')
    expect(two.prepare('SELECT id FROM repos').all()).toMatchObject([{ id: sampleRepo.id }])
    for (const db of [one, two]) db.close()
  })
})
