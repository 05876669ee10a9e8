/** Follows the log: every event once, in order, by whichever process it was appended (docs/adr/0064-one-cursor-a-client.md). */
import type { StoredEvent } from '../model/events.ts'
import type { Ports, Records } from '../ports/index.ts'
import { findRepo } from './repo.ts'

/** An event, with the id of its task and that of its repository. */
export interface Followed {
  readonly stored: StoredEvent
  readonly task: string
  readonly repo: string
}

/**
 * The one reader of the log in a process. Any number of followers share it, each with a cursor of its own: the `seq` of the
 * last event that it has looked at.
 */
export interface Feed {
  readEnd(): Promise<LogEnd>
  /** Events after the cursor, oldest first. Events of tasks without a record are left out. */
  readAfter(seq: number): Promise<Batch>
  /**
   * Calls `more` whenever the log has grown, or is another one, and without an end when that cannot be read. The store is
   * looked at only while somebody listens.
   */
  listen(more: (end?: LogEnd) => void): () => void
  /** This process has appended: looks at once. */
  wake(): void
}

export interface LogEnd {
  /** The `seq` of the last event. */
  readonly seq: number
  /** The id of the log; empty before it has one. */
  readonly log: string
}

export interface Batch {
  readonly events: readonly Followed[]
  /** Where the next read goes on; the cursor itself when there is nothing more now. */
  readonly seq: number
}

/** So many events are read at a time; so many are kept for followers that come a moment later, and so many names of tasks. */
const most = { read: 500, kept: 1000, names: 10_000 }

/** Events of other processes are noticed by asking the store: events of the file system came late, or not at all. */
export function openFeed(records: Pick<Records, 'store' | 'notes'>, pollMs: number): Feed {
  const listeners = new Set<(end?: LogEnd) => void>()
  const tell = (end?: LogEnd) => {
    for (const more of listeners) more(end)
  }
  const names = new Map<string, Pick<Followed, 'task' | 'repo'>>()
  /** The last batches of the log, without a gap between them; `from` is the cursor that each was read at. */
  let kept: (Batch & { readonly from: number })[] = []
  const reading = new Map<number, Promise<Batch>>()
  let last: LogEnd | undefined
  let looking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function nameOf(uid: string): Promise<Pick<Followed, 'task' | 'repo'> | undefined> {
    const known = names.get(uid)
    if (known) return known
    const found = await records.store.findTaskByUid(uid)
    if (!found) return undefined
    if (names.size >= most.names) names.clear()
    const name = { task: found.id, repo: found.repo }
    names.set(uid, name)
    return name
  }

  async function load(after: number): Promise<Batch> {
    const events: Followed[] = []
    let seq = after
    for (const stored of await records.store.readEvents({ after, limit: most.read })) {
      seq = stored.seq
      const name = await nameOf(stored.uid)
      if (name) events.push({ stored, ...name })
    }
    return { events, seq }
  }

  /** A follower that is far behind must not push out what those at the end of the log are about to read. */
  function keep(from: number, batch: Batch): void {
    const end = kept.at(-1)?.seq ?? from
    if (batch.seq === from || from < end) return
    if (from > end) kept = []
    kept.push({ ...batch, from })
    while (kept.length > 1 && (kept[0]?.seq ?? 0) < batch.seq - most.kept) kept.shift()
  }

  async function readEnd(): Promise<LogEnd> {
    const { seq } = await records.store.readPosition([])
    return { seq, log: (await records.notes.find(logNote)) ?? '' }
  }

  async function look(): Promise<void> {
    const { seq } = await records.store.readPosition([])
    if (seq === last?.seq) return
    const end = await readEnd()
    if (last && (end.log !== last.log || end.seq < last.seq)) kept = []
    last = end
    tell(end)
  }

  const lookOnce = () =>
    (looking ??= look()
      .catch(() => tell())
      .finally(() => (looking = undefined)))

  function poll(): void {
    const mine = setTimeout(() => void lookOnce().then(() => timer === mine && poll()), pollMs)
    timer = mine
  }

  return {
    readEnd,
    async readAfter(after) {
      const known = kept.find(({ from, seq }) => from <= after && after < seq)
      if (known) return { events: known.events.filter(({ stored }) => stored.seq > after), seq: known.seq }
      const begun = reading.get(after)
      if (begun) return begun
      const batch = load(after).finally(() => reading.delete(after))
      reading.set(after, batch)
      keep(after, await batch)
      return batch
    },
    listen(more) {
      listeners.add(more)
      if (listeners.size === 1) poll()
      return () => {
        listeners.delete(more)
        if (listeners.size > 0) return
        clearTimeout(timer)
        ;[timer, last, kept] = [undefined, undefined, []]
      }
    },
    wake: () => void (listeners.size > 0 && lookOnce()),
  }
}

/** The id of the log is in a note beside it: when the records were rebuilt, the note is gone, and numbers begin anew. */
const logNote = 'log'

/** Gives the log an id, unless it has one. */
export async function nameLog({ notes, ids }: Pick<Ports, 'notes' | 'ids'>): Promise<void> {
  if (!(await notes.find(logNote))) await notes.put(logNote, ids.uid())
}

export interface Wanted {
  /** Folders of repositories, and ids of repositories. Without any, the events of all come. */
  readonly dirs?: readonly string[] | undefined
  readonly repos?: readonly string[] | undefined
  /** Ids or uids of tasks. Without any, the events of all come. */
  readonly tasks?: readonly string[] | undefined
}

/** Decides which events a follower gets. */
export interface Filter {
  /** Has to be awaited before events are asked about: a repository gets its record with its first task. */
  ready(): Promise<void>
  fits(about: { readonly uid: string; readonly task: string; readonly repo: string }): boolean
  fitsRepo(id: string): boolean
}

/** Throws `notARepository` for a folder that is in none. */
export async function openFilter(records: Records, wanted: Wanted): Promise<Filter> {
  const repos = wanted.dirs || wanted.repos ? new Set(wanted.repos) : undefined
  const tasks = wanted.tasks && new Set(wanted.tasks)
  const open = new Set(wanted.dirs)
  const ready = async () => {
    for (const dir of open) {
      const { repo } = await findRepo(records, dir)
      if (!repo) continue
      repos?.add(repo.id)
      open.delete(dir)
    }
  }
  await ready()
  const fitsRepo = (id: string) => repos?.has(id) ?? true
  return {
    ready,
    fits: ({ uid, task, repo }) => fitsRepo(repo) && (!tasks || tasks.has(task) || tasks.has(uid)),
    fitsRepo,
  }
}

export interface FollowInput {
  /** A folder of the repository; without it, the events of all repositories come. */
  readonly dir?: string | undefined
  /** The `seq` of the last event that the reader has; without it, the last one of the log. */
  readonly since?: number | undefined
  /** Only events of tasks with that id. */
  readonly task?: string | undefined
  readonly signal: AbortSignal
}

export async function* follow(
  records: Records,
  feed: Feed,
  { dir, since, task, signal }: FollowInput,
): AsyncGenerator<Followed, void> {
  const filter = await openFilter(records, {
    dirs: dir === undefined ? undefined : [dir],
    tasks: task === undefined ? undefined : [task],
  })
  let seq = since ?? (await feed.readEnd()).seq
  let more = Promise.withResolvers<void>()
  const wake = () => more.resolve()
  const stop = feed.listen(wake)
  signal.addEventListener('abort', wake)
  try {
    while (!signal.aborted) {
      more = Promise.withResolvers()
      const batch = await feed.readAfter(seq)
      if (batch.events.length > 0) await filter.ready()
      for (const followed of batch.events) {
        if (!filter.fits({ ...followed, uid: followed.stored.uid })) continue
        yield followed
        if (signal.aborted) return
      }
      const isEnd = batch.seq === seq
      seq = batch.seq
      if (isEnd) await more.promise
    }
  } finally {
    signal.removeEventListener('abort', wake)
    stop()
  }
}
