import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { firstSeal, type LoggedEvent, sealOf } from '../core/chain.ts'
import { AppError } from '../core/errors.ts'
import { reduce, type StoredEvent, type TaskEvent } from '../core/events.ts'
import type { RepoRecord, Store, TaskFilter } from '../core/ports.ts'
import { withoutSecrets } from '../core/redact.ts'
import { isOpen, type Task } from '../core/task.ts'
import { damaged, isTaken, storeError } from './errors.ts'
import { inTransaction, openDatabase } from './open.ts'

type Row = Record<string, unknown>

const repoColumns = 'id, name, common_dir AS commonDir, mark, added_at AS addedAt'
const newestFirst = 'ORDER BY created_at DESC, seq DESC'
/** In the words of its index, which answers it alone. */
const idlingQuery = `SELECT repo, summary ->> '$.origin' AS origin, summary ->> '$.trigger' AS trigger,
    summary -> '$.shadow' IS NOT NULL AS shadow, min(last_active_at) AS since
  FROM tasks WHERE open = 1
  GROUP BY repo, summary ->> '$.origin', summary ->> '$.trigger', summary -> '$.shadow' IS NOT NULL`

/** What is no JSON must not be asked for a part of it. */
const unreadable = `CASE WHEN json_valid(summary) THEN summary ->> '$.uid' IS NOT uid ELSE 1 END`

/** The store in one SQLite file, for any number of processes at once. `pid` is who tells what is appended. */
export function sqliteStore(path: string, pid?: number): Store {
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      throw storeError(thrown, path)
    }
  }

  const db = guarded(() => openDatabase(path))
  const statements = new Map<string, StatementSync>()

  /** Prepared on first use: a command needs only a few of them, and its start-up waits for each. */
  function statement(sql: string): StatementSync {
    const known = statements.get(sql)
    if (known) return known
    const made = db.prepare(sql)
    statements.set(sql, made)
    return made
  }

  const find = (sql: string, ...values: SQLInputValue[]): Row | undefined =>
    guarded(() => statement(sql).get(...values))
  const read = (sql: string, ...values: SQLInputValue[]): Row[] =>
    guarded(() => statement(sql).all(...values))
  const change = (sql: string, ...values: SQLInputValue[]) =>
    guarded(() => void statement(sql).run(...values))
  const findTask = (where: string, ...values: SQLInputValue[]) =>
    task(find(`SELECT summary FROM tasks WHERE ${where} LIMIT 1`, ...values))

  function append(uid: string, told: TaskEvent, at: string, expected?: number, by?: number): Task {
    const event = withoutSecrets(told)
    const row = statement('SELECT version, summary FROM tasks WHERE uid = ?').get(uid)
    const version = Number(row?.version ?? 0)
    if (expected !== undefined && expected !== version)
      throw overtaken(task(row)?.id ?? uid, expected, version)
    const next = reduce(task(row), event, at)
    if (!next) throw new AppError('WT_007', `There is no task with the uid ${uid}.`, { data: { uid } })
    putTask(next, version + 1)
    const last = statement('SELECT seal FROM events ORDER BY seq DESC LIMIT 1').get()
    const [n, type, text] = [version + 1, event.type, JSON.stringify({ ...event, pid: by })]
    const seal = sealOf((last?.seal as string | undefined) ?? firstSeal, { uid, n, at, type, text })
    statement('INSERT INTO events (uid, n, at, type, event, seal) VALUES (?, ?, ?, ?, ?, ?)').run(
      uid,
      n,
      at,
      type,
      text,
      seal,
    )
    return next
  }

  /** A task whose own row is lost, made again from its events; false when that is there, or these are lost too. */
  function fold(uid: string): boolean {
    if (statement('SELECT seq FROM tasks WHERE uid = ?').get(uid)) return false
    const { next, version } = folded(uid)
    if (next) putTask(next, version)
    return next !== undefined
  }

  function folded(uid: string): { next: Task | undefined; version: number } {
    const rows = statement('SELECT * FROM events WHERE uid = ? ORDER BY n').all(uid)
    const next = rows
      .map(storedEvent)
      .reduce<Task | undefined>((before, { event, at }) => reduce(before, event, at), undefined)
    return { next, version: rows.length }
  }

  /** Where an event is lost or damaged, too, its row stays as it is. */
  function refold({ uid, version }: Row): string[] {
    const made = folded(uid as string)
    if (!made.next || made.version !== version) return []
    putTask(made.next, made.version)
    return [made.next.id]
  }

  function putTask(next: Task, version: number): void {
    try {
      statement(
        `INSERT INTO tasks (uid, repo, id, state, open, pending, hidden, path, created_at, last_active_at, version, summary)
         VALUES (:uid, :repo, :id, :state, :open, :pending, :hidden, :path, :createdAt, :lastActiveAt, :version, :summary)
         ON CONFLICT (uid) DO UPDATE SET
           state = :state, open = :open, pending = :pending, hidden = :hidden, path = :path,
           last_active_at = :lastActiveAt, version = :version, summary = :summary`,
      ).run({
        uid: next.uid,
        repo: next.repo,
        id: next.id,
        state: next.state,
        open: Number(isOpen(next)),
        pending: Number(next.pending !== undefined),
        hidden: Number(next.hidden === true),
        path: next.path,
        createdAt: next.createdAt,
        lastActiveAt: next.lastActiveAt,
        version,
        summary: JSON.stringify(next),
      })
    } catch (thrown) {
      if (!isTaken(thrown)) throw thrown
      throw taken(next.id, findTask('repo = ? AND lower(id) = lower(?) AND open = 1', next.repo, next.id))
    }
  }

  return {
    findRepo: async (commonDir) =>
      // A repository that was deleted and made anew in its place has a second record there.
      repo(
        find(
          `SELECT ${repoColumns} FROM repos WHERE common_dir = ? ORDER BY added_at DESC, rowid DESC`,
          commonDir,
        ),
      ),
    findRepoById: async (id) => repo(find(`SELECT ${repoColumns} FROM repos WHERE id = ?`, id)),
    readRepos: async () =>
      read(`SELECT ${repoColumns} FROM repos ORDER BY added_at, rowid`).map((row) => repo(row)!),
    putRepo: async ({ id, name, commonDir, mark, addedAt }) =>
      change(
        `INSERT INTO repos (id, name, common_dir, mark, added_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
           name = excluded.name, common_dir = excluded.common_dir, mark = excluded.mark, added_at = excluded.added_at`,
        id,
        name,
        commonDir,
        mark,
        addedAt,
      ),

    findOpenTask: async (repo, id) =>
      findTask('repo = ? AND lower(id) = lower(?) AND open = 1 AND id = ?', repo, id, id),
    findTask: async (repo, id) => findTask(`repo = ? AND id = ? AND hidden = 0 ${newestFirst}`, repo, id),
    findTaskByUid: async (uid) => findTask('uid = ?', uid),
    findTaskByPath: async (path) =>
      findTask('path = ? AND hidden = 0 ORDER BY open DESC, created_at DESC, seq DESC', path),
    readTasks: async (filter) => {
      const { where, values } = taskCondition(filter)
      return read(`SELECT summary FROM tasks WHERE ${where} ${newestFirst} LIMIT ?`, ...values).map(
        (row) => task(row)!,
      )
    },
    countOpenTasks: async (repo) =>
      Number(find('SELECT count(*) AS count FROM tasks WHERE repo = ? AND open = 1', repo)?.count),
    readIdling: async () =>
      read(idlingQuery).map(({ repo, origin, trigger, shadow, since }) => ({
        repo: repo as string,
        origin: origin as string,
        ...(trigger !== null && { trigger: trigger as NonNullable<Task['trigger']> }),
        shadow: shadow === 1,
        lastActiveAt: since as string,
      })),
    readPendingTasks: async () =>
      read('SELECT summary FROM tasks WHERE pending = 1 ORDER BY seq').map((row) => task(row)!),

    append: async (uid, event, at, expected) =>
      guarded(() => inTransaction(db, () => append(uid, event, at, expected, pid))),
    appendAll: async (events, at) =>
      guarded(() =>
        inTransaction(db, () => events.map(({ uid, event }) => append(uid, event, at, undefined, pid))),
      ),
    adopt: async (log) =>
      guarded(() =>
        inTransaction(db, () => {
          const seen = new Map<string, number>()
          const known = new Set([...new Set(log.map(({ uid }) => uid))].filter(fold))
          for (const { uid, event, at } of log) {
            if (known.has(uid)) continue
            const n = seen.get(uid) ?? 0
            append(uid, event, at, n)
            seen.set(uid, n + 1)
          }
        }),
      ),
    async *readLog() {
      for (let after = 0; ; ) {
        const rows = read('SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT 1000', after)
        for (const row of rows) yield { ...row, text: row.event } as unknown as LoggedEvent
        if (rows.length === 0) return
        after = rows.at(-1)?.seq as number
      }
    },
    countEvents: async () => ({
      last: Number(find("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0),
      perTask: new Map(
        read('SELECT uid, version FROM tasks').map(({ uid, version }) => [uid as string, version as number]),
      ),
    }),
    findDamage: async () => {
      const found = find('PRAGMA integrity_check(1)')?.integrity_check as string | undefined
      if (found !== 'ok') return found
      const event = find('SELECT seq FROM events WHERE NOT json_valid(event) LIMIT 1')
      if (event) return `entry ${String(event.seq)} of the log cannot be read`
      const task = find(`SELECT id FROM tasks WHERE ${unreadable} LIMIT 1`)
      return task && `the record of ${String(task.id)} cannot be read`
    },
    mendTasks: async () => {
      const rows = read(`SELECT uid, version FROM tasks WHERE ${unreadable}`)
      return rows.length === 0 ? [] : guarded(() => inTransaction(db, () => rows.flatMap(refold)))
    },
    readEvents: async ({ after = 0, uid, types, limit = -1 }) => {
      const terms = ['seq > ?']
      const values: SQLInputValue[] = [after]
      if (uid !== undefined) {
        terms.push('uid = ?')
        values.push(uid)
      }
      if (types !== undefined) {
        terms.push(`type IN (${types.map(() => '?').join(', ')})`)
        values.push(...types)
      }
      const query = `SELECT * FROM events WHERE ${terms.join(' AND ')} ORDER BY seq LIMIT ?`
      return read(query, ...values, limit).map(storedEvent)
    },

    findNote: async (key) => find('SELECT value FROM notes WHERE key = ?', key)?.value as string | undefined,
    readNotes: async (prefix) =>
      new Map(
        read(
          "SELECT key, value FROM notes WHERE key >= ? AND key < ? AND value <> ''",
          prefix,
          `${prefix}\u{10ffff}`,
        ).map(({ key, value }) => [key as string, value as string]),
      ),
    putNote: async (key, value) =>
      change(
        'INSERT INTO notes VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
        key,
        value,
      ),
    close: async () => {
      if (db.isOpen) guarded(() => db.close())
    },
  }
}

/** `open = 1` stands in the text, not in a value: only then the index of the few open tasks is used. */
function taskCondition({ repo, open, limit }: TaskFilter): { where: string; values: SQLInputValue[] } {
  const terms = ['hidden = 0']
  if (open !== undefined) terms.push(`open = ${Number(open)}`)
  if (repo !== undefined) terms.push('repo = ?')
  return { where: terms.join(' AND '), values: [...(repo === undefined ? [] : [repo]), limit ?? -1] }
}

/** Rows come without a prototype; a record is a plain object like every other. */
const repo = (row: Row | undefined) => (row ? ({ ...row } as unknown as RepoRecord) : undefined)

const task = (row: Row | undefined) => (row ? parsed<Task>(row.summary, 'a task') : undefined)

function parsed<T>(text: unknown, what: string): T {
  try {
    return JSON.parse(text as string) as T
  } catch (cause) {
    throw damaged(`${what} cannot be read`, { cause })
  }
}

function storedEvent(row: Row): StoredEvent {
  const text = parsed<TaskEvent & { pid?: number }>(row.event, `entry ${String(row.seq)} of the log`)
  const { pid, ...event } = text
  return {
    seq: row.seq as number,
    uid: row.uid as string,
    n: row.n as number,
    at: row.at as string,
    ...(pid !== undefined && { pid }),
    event,
  }
}

function overtaken(task: string, expected: number, version: number): AppError {
  return new AppError('WT_012', `Another process changed the task ${task} in the meantime.`, {
    hint: 'Repeat; the task is read anew.',
    data: { expected, version },
  })
}

function taken(id: string, other: Task | undefined): AppError {
  const message =
    other === undefined || other.id === id
      ? `A task with the id ${id} is open already.`
      : `The open task ${other.id} differs from ${id} in upper and lower case only.`
  return new AppError('WT_013', message, { path: other?.path, data: { id, existing: other?.id } })
}
