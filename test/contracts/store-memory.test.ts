/** A store that keeps its rows in memory: shows that the contract asks for nothing that only SQLite has. */
import { firstSeal, type LoggedEvent } from '../../src/core/model/seal.ts'
import { parseEntry } from '../../src/core/model/entry.ts'
import type { RepoRecord } from '../../src/core/model/repo.ts'
import type { Store, Stores } from '../../src/core/ports/store.ts'
import { isOpen, type Task } from '../../src/core/model/task.ts'
import { storeContract } from './store.contract.ts'

interface Row {
  readonly task: Task
  readonly version: number
}

interface Rows {
  log: LoggedEvent[]
  /** In the order in which the tasks began. */
  tasks: Map<string, Row>
  readonly repos: Map<string, RepoRecord>
  readonly notes: Map<string, string>
}

/** By their path, so that a store that is opened again has what it had. */
const kept = new Map<string, Rows>()

function memoryStores(path: string): Stores {
  const rows = kept.get(path) ?? { log: [], tasks: new Map(), repos: new Map(), notes: new Map() }
  kept.set(path, rows)
  const tasks = () => Array.from(rows.tasks.values(), ({ task }) => task)
  const newestFirst = (some: readonly Task[]) =>
    some.toReversed().sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  const seen = () => newestFirst(tasks().filter(({ hidden }) => !hidden))
  const end = () => ({ seq: rows.log.length, seal: rows.log.at(-1)?.seal ?? firstSeal })

  const store: Store = {
    findOpenTask: async (repo, id) =>
      tasks().find((task) => isOpen(task) && task.repo === repo && task.id === id),
    findTask: async (repo, id) => {
      const named = seen().filter((task) => task.repo === repo && task.id === id)
      return named.find(isOpen) ?? named[0]
    },
    findTaskByUid: async (uid) => rows.tasks.get(uid)?.task,
    findTaskByPath: async (at) => {
      const there = seen().filter((task) => task.path === at)
      return there.find(isOpen) ?? there[0]
    },
    readTasks: async ({ repo, open, limit }) =>
      seen()
        .filter((task) => (repo ?? task.repo) === task.repo && (open ?? isOpen(task)) === isOpen(task))
        .slice(0, limit),
    countOpenTasks: async (repo) => tasks().filter((task) => task.repo === repo && isOpen(task)).length,
    async readIdling() {
      const like = ({ repo, origin, trigger, shadow }: Task) =>
        JSON.stringify([repo, origin, trigger ?? '', shadow !== undefined])
      const alike = [...Map.groupBy(tasks().filter(isOpen), like)].sort(([a], [b]) => (a < b ? -1 : 1))
      return alike.map(([, [first, ...others]]) => ({
        repo: first!.repo,
        origin: first!.origin,
        ...(first!.trigger && { trigger: first!.trigger }),
        shadow: first!.shadow !== undefined,
        lastActiveAt: [first!, ...others].map(({ lastActiveAt }) => lastActiveAt).sort()[0]!,
      }))
    },
    readPendingTasks: async () => tasks().filter(({ pending }) => pending !== undefined),
    readEvents: async ({ after = 0, uid, types, limit }) =>
      rows.log
        .filter((entry) => entry.seq > after && (uid ?? entry.uid) === entry.uid)
        .filter(({ type }) => types === undefined || (types as readonly string[]).includes(type))
        .slice(0, limit)
        .map(({ seq, uid, n, at, text }) => ({ seq, uid, n, at, ...parseEntry(text) })),
    async *readLog() {
      yield* rows.log
    },
    readPosition: async (uids = [...rows.tasks.keys()]) => ({
      ...end(),
      versions: new Map(
        uids.flatMap((uid) => {
          const row = rows.tasks.get(uid)
          return row ? [[uid, row.version] as const] : []
        }),
      ),
    }),
    async append({ after, entries, tasks }) {
      const { seq, seal } = end()
      if (seq !== after.seq || seal !== after.seal) return 'stale'
      if (tasks.some(({ task, from }) => (rows.tasks.get(task.uid)?.version ?? 0) !== from)) return 'stale'
      const next = new Map(rows.tasks)
      for (const { task, to } of tasks) {
        const isRival = (other: Task) =>
          isOpen(other) && other.uid !== task.uid && other.repo === task.repo && sameId(other.id, task.id)
        if (isOpen(task) && [...next.values()].some((row) => isRival(row.task))) return 'taken'
        next.set(task.uid, { task, version: to })
      }
      rows.tasks = next
      rows.log = [...rows.log, ...entries.map((entry, index) => ({ ...entry, seq: seq + 1 + index }))]
      return 'done'
    },
    inspect: async () => [],
  }
  return {
    store,
    repos: {
      findAt: async (commonDir) => [...rows.repos.values()].findLast((repo) => repo.commonDir === commonDir),
      findById: async (id) => rows.repos.get(id),
      readAll: async () => [...rows.repos.values()],
      put: async (repo) => void rows.repos.set(repo.id, repo),
    },
    notes: {
      find: async (key) => rows.notes.get(key),
      put: async (key, value) => void rows.notes.set(key, value),
      readBelow: async (prefix) =>
        new Map([...rows.notes].filter(([key, value]) => key.startsWith(prefix) && value !== '')),
    },
    close: async () => {},
  }
}

const sameId = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

storeContract({ name: 'memory', open: memoryStores })
