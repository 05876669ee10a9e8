/**
 * The schema of the SQLite store, as a list of migrations; the second one seals the log
 * (docs/adr/0020-the-log-is-sealed.md).
 */
import type { DatabaseSync } from 'node:sqlite'
import { firstSeal, sealOf } from '../core/model/seal.ts'

/**
 * Each migration raises the version by one. A released migration is never edited: databases of users have already run
 * it.
 */
export const migrations: readonly (string | ((db: DatabaseSync) => void))[] = [
  `
  CREATE TABLE repos (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    common_dir TEXT NOT NULL,
    mark TEXT NOT NULL,
    added_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX repos_by_dir ON repos (common_dir);

  CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    repo TEXT NOT NULL REFERENCES repos (id),
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    path TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_active_at TEXT NOT NULL,
    version INTEGER NOT NULL,
    summary TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX tasks_open_id ON tasks (repo, lower(id)) WHERE open = 1;
  CREATE INDEX tasks_pending ON tasks (seq) WHERE pending = 1;
  CREATE INDEX tasks_by_repo ON tasks (repo, open, created_at, seq);
  CREATE INDEX tasks_by_id ON tasks (repo, id, created_at, seq);
  CREATE INDEX tasks_by_path ON tasks (path);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL REFERENCES tasks (uid),
    n INTEGER NOT NULL,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    event TEXT NOT NULL,
    UNIQUE (uid, n)
  ) STRICT;

  CREATE TABLE notes (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  (db) => {
    db.exec("ALTER TABLE events ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
    const seal = db.prepare('UPDATE events SET seal = ? WHERE seq = ?')
    let before = firstSeal
    for (const row of db.prepare('SELECT seq, uid, n, at, type, event FROM events ORDER BY seq').iterate()) {
      const { seq, uid, n, at, type, event } = row as unknown as EventRow
      before = sealOf(before, { uid, n, at, type, text: event })
      seal.run(before, seq)
    }
  },
  // Every command that writes runs this query: it must not get slower with the number of tasks.
  `CREATE INDEX tasks_idling ON tasks (
    repo, summary ->> '$.origin', summary ->> '$.trigger', summary -> '$.shadow' IS NOT NULL, last_active_at
  ) WHERE open = 1`,
]

interface EventRow {
  readonly seq: number
  readonly uid: string
  readonly n: number
  readonly at: string
  readonly type: string
  readonly event: string
}
