/**
 * The records in one SQLite file, for any number of processes at once (docs/adr/0003-sqlite-store.md). It keeps rows
 * and decides nothing (docs/adr/0026-a-thin-asynchronous-store.md).
 */
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { firstSeal, type LoggedEvent } from '../core/model/seal.ts'
import type { StoredEvent } from '../core/model/events.ts'
import { parseEntry } from '../core/model/entry.ts'
import type { Change, Fault, TaskChange } from '../core/model/change.ts'
import type { Stores } from '../core/ports/store.ts'
import type { RepoRecord } from '../core/model/repo.ts'
import { type TaskFilter, isOpen, type Task } from '../core/model/task.ts'
import { damagedError, isTaken, storeError } from './errors.ts'
import { inTransaction, openDatabase } from './open.ts'

type Row = Record<string, unknown>

const repoColumns = 'id, name, common_dir AS commonDir, mark, added_at AS addedAt'
const newestFirst = 'ORDER BY created_at DESC, seq DESC'
/** An undo can open an older task again, while a newer one of its id is closed. */
const openFirst = 'ORDER BY open DESC, created_at DESC, seq DESC'
/** Uses the same expressions as the index `tasks_idling`, so that the index alone answers it. */
const idlingQuery = `SELECT repo, summary ->> '$.origin' AS origin, summary ->> '$.trigger' AS trigger,
    summary -> '$.shadow' IS NOT NULL AS shadow, min(last_active_at) AS since
  FROM tasks WHERE open = 1
  GROUP BY repo, summary ->> '$.origin', summary ->> '$.trigger', summary -> '$.shadow' IS NOT NULL`

/** Checks `json_valid` first: SQLite throws on `->>` of a text that is not JSON. */
const unreadable = `CASE WHEN json_valid(summary) THEN summary ->> '$.uid' IS NOT uid ELSE 1 END`

/** Rolls the transaction back: another open task has the id. */
class IdTaken extends Error {}

/** SQLite keeps the number of the last entry even if that entry was deleted. */
const lastSeq = `SELECT max(
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0),
    coalesce((SELECT max(seq) FROM events), 0)
  ) AS seq`

export function sqliteStores(path: string): Stores {
  const translateErrors = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      throw storeError(thrown, path)
    }
  }

  const db = translateErrors(() => openDatabase(path))
  const statements = new Map<string, StatementSync>()

  /** Prepares a statement at its first use: a command needs few of them, and its start would wait for all. */
  function statement(sql: string): StatementSync {
    const known = statements.get(sql)
    if (known) return known
    const made = db.prepare(sql)
    statements.set(sql, made)
    return made
  }

  const find = (sql: string, ...values: SQLInputValue[]): Row | undefined =>
    translateErrors(() => statement(sql).get(...values))
  const read = (sql: string, ...values: SQLInputValue[]): Row[] =>
    translateErrors(() => statement(sql).all(...values))
  const change = (sql: string, ...values: SQLInputValue[]) =>
    translateErrors(() => void statement(sql).run(...values))
  const findTask = (where: string, ...values: SQLInputValue[]) =>
    task(find(`SELECT summary FROM tasks WHERE ${where} LIMIT 1`, ...values))

  function readEnd(): Change['after'] {
    const last = statement('SELECT seal FROM events ORDER BY seq DESC LIMIT 1').get()
    return {
      seq: Number(statement(lastSeq).get()?.seq),
      seal: (last?.seal as string | undefined) ?? firstSeal,
    }
  }

  const readVersion = (uid: string) =>
    statement('SELECT version FROM tasks WHERE uid = ?').get(uid)?.version as number | undefined

  const versionsOf = (uids: readonly string[]) =>
    new Map(
      uids.flatMap((uid) => {
        const version = readVersion(uid)
        return version === undefined ? [] : [[uid, version] as const]
      }),
    )

  const readVersions = () =>
    new Map(
      statement('SELECT uid, version FROM tasks')
        .all()
        .map(({ uid, version }) => [uid as string, version as number]),
    )

  function isStale({ after, tasks }: Change): boolean {
    const { seq, seal } = readEnd()
    if (seq !== after.seq || seal !== after.seal) return true
    return tasks.some(({ task, from }) => (readVersion(task.uid) ?? 0) !== from)
  }

  function write({ after, entries, tasks }: Change): void {
    for (const change of tasks) {
      try {
        putTask(change)
      } catch (thrown) {
        throw isTaken(thrown) ? new IdTaken() : thrown
      }
    }
    for (const [index, { uid, n, at, type, text, seal }] of entries.entries())
      statement('INSERT INTO events (seq, uid, n, at, type, event, seal) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        after.seq + 1 + index,
        uid,
        n,
        at,
        type,
        text,
        seal,
      )
  }

  function putTask({ task: next, to: version }: TaskChange): void {
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
  }

  return {
    store: {
      findOpenTask: async (repo, id) =>
        findTask('repo = ? AND lower(id) = lower(?) AND open = 1 AND id = ?', repo, id, id),
      findTask: async (repo, id) => findTask(`repo = ? AND id = ? AND hidden = 0 ${openFirst}`, repo, id),
      findTaskByUid: async (uid) => findTask('uid = ?', uid),
      findTaskByPath: async (path) => findTask(`path = ? AND hidden = 0 ${openFirst}`, path),
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

      append: async (change) => {
        try {
          return translateErrors(() =>
            inTransaction(db, () => {
              if (isStale(change)) return 'stale'
              write(change)
              return 'done'
            }),
          )
        } catch (thrown) {
          if (thrown instanceof IdTaken) return 'taken'
          throw thrown
        }
      },
      async *readLog() {
        for (let after = 0; ; ) {
          const rows = read('SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT 1000', after)
          for (const row of rows) yield { ...row, text: row.event } as unknown as LoggedEvent
          if (rows.length === 0) return
          after = rows.at(-1)?.seq as number
        }
      },
      readPosition: async (uids) =>
        translateErrors(() =>
          inTransaction(
            db,
            () => ({ ...readEnd(), versions: uids ? versionsOf(uids) : readVersions() }),
            'DEFERRED',
          ),
        ),
      inspect: async () => {
        const found = find('PRAGMA integrity_check(1)')?.integrity_check as string | undefined
        if (found !== 'ok') return [{ what: found ?? 'its integrity check returned nothing' }]
        const events = read('SELECT seq FROM events WHERE NOT json_valid(event)')
        const tasks = read(`SELECT uid, id FROM tasks WHERE ${unreadable}`)
        return [
          ...events.map(({ seq }): Fault => ({ what: `entry ${String(seq)} of the log cannot be read` })),
          ...tasks.map(
            ({ uid, id }): Fault => ({
              what: `the record of ${String(id)} cannot be read`,
              uid: uid as string,
            }),
          ),
        ]
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
    },
    repos: {
      findAt: async (commonDir) =>
        // If a repository was deleted and made again in the same place, the folder has two records: the newer one
        // counts.
        repo(
          find(
            `SELECT ${repoColumns} FROM repos WHERE common_dir = ? ORDER BY added_at DESC, rowid DESC`,
            commonDir,
          ),
        ),
      findById: async (id) => repo(find(`SELECT ${repoColumns} FROM repos WHERE id = ?`, id)),
      readAll: async () =>
        read(`SELECT ${repoColumns} FROM repos ORDER BY added_at, rowid`).map((row) => repo(row)!),
      put: async ({ id, name, commonDir, mark, addedAt }) =>
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
    },
    notes: {
      find: async (key) => find('SELECT value FROM notes WHERE key = ?', key)?.value as string | undefined,
      readBelow: async (prefix) =>
        new Map(
          read(
            "SELECT key, value FROM notes WHERE key >= ? AND key < ? AND value <> ''",
            prefix,
            `${prefix}\u{10ffff}`,
          ).map(({ key, value }) => [key as string, value as string]),
        ),
      put: async (key, value) =>
        change(
          'INSERT INTO notes VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
          key,
          value,
        ),
    },
    close: async () => {
      if (db.isOpen) translateErrors(() => db.close())
    },
  }
}

/** `open = 1` is spelled out: with a bound value SQLite would not use the partial index of the open tasks. */
function taskCondition({ repo, open, limit }: TaskFilter): { where: string; values: SQLInputValue[] } {
  const terms = ['hidden = 0']
  if (open !== undefined) terms.push(`open = ${Number(open)}`)
  if (repo !== undefined) terms.push('repo = ?')
  return { where: terms.join(' AND '), values: [...(repo === undefined ? [] : [repo]), limit ?? -1] }
}

/** Rows have no prototype; a record is a plain object. */
const repo = (row: Row | undefined) => (row ? ({ ...row } as unknown as RepoRecord) : undefined)

const task = (row: Row | undefined) =>
  row ? parseText(row.summary, 'a task', (text) => JSON.parse(text) as Task) : undefined

function parseText<T>(text: unknown, what: string, parse: (text: string) => T): T {
  try {
    return parse(text as string)
  } catch (cause) {
    throw damagedError(`${what} cannot be read`, { cause })
  }
}

function storedEvent(row: Row): StoredEvent {
  return {
    seq: row.seq as number,
    uid: row.uid as string,
    n: row.n as number,
    at: row.at as string,
    ...parseText(row.event, `entry ${String(row.seq)} of the log`, parseEntry),
  }
}
