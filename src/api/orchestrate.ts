/** What the daemon does by itself: starts queued runs, ends those of dead processes, and keeps repositories tidy. */
import { type AppError, appError } from '../core/model/errors.ts'
import { repoRoot } from '../core/model/repo.ts'
import { defaultSettings } from '../core/model/settings.ts'
import type { Ports } from '../core/ports/index.ts'
import { type Dispatched, openDispatcher } from '../core/runs/dispatch.ts'
import { noteKeeper } from '../core/runs/keeper.ts'
import { recoverMeanwhile } from '../core/recovery/periodic.ts'

/** What was done without being asked, for the log of the daemon. */
export interface Heard {
  started(run: { readonly task: string; readonly repo: string; readonly entry: string }): void
  /** Something failed, and will be tried again or was given up. */
  failed(what: string, error: AppError): void
  /** Says what upkeep did, in a line each. */
  did(what: string, repo: string): void
  /** The disk is fuller than `disk.warnPercent`, or has space again. */
  disk(usedPercent: number, warnPercent: number): void
}

export interface Orchestrator {
  /** From now on commands leave detached runs to this process. Ends what dead processes left, before the first run starts. */
  begin(): Promise<void>
  /** Starts the queued runs whose turn it is, after ending runs of dead processes. */
  dispatch(): Promise<Dispatched>
  /** The number of the last event of the log: when it is the same, nothing has changed. */
  readSeq(): Promise<number>
  /** The jobs that come back, each with how often it is looked at. */
  readonly jobs: readonly Job[]
  /** Begins the recovery at intervals; the answered function ends it. */
  recoverMeanwhile(): Promise<() => Promise<void>>
  /** Commands start detached runs themselves again. Waits for runs that are about to begin. */
  end(): Promise<void>
}

interface Job {
  readonly name: string
  readonly everyMs: number
  readonly work: () => Promise<void>
}

/** A dead run that recovery has to leave alone is tried again after this time, not at each event. */
const settleMs = 4000

const second = 1000
const minute = 60 * second
const hour = 60 * minute

export function openOrchestrator(ports: Ports, heard: Heard, signal: AbortSignal): Orchestrator {
  const dispatcher = openDispatcher(
    ports,
    ({ id, repo }, entry, failure) =>
      failure ? heard.failed(`the queued run of ${id}`, failure) : heard.started({ task: id, repo, entry }),
    signal,
  )
  let settledAt = Number.NEGATIVE_INFINITY
  const trying = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (thrown) {
      if (!signal.aborted) heard.failed(what, appError(thrown))
    }
  }
  const eachRepo = async (what: string, work: (dir: string, id: string) => Promise<void>) => {
    for (const { id, commonDir } of await ports.repos.readAll()) {
      if (signal.aborted || (await ports.files.readKind(commonDir)) !== 'folder') continue
      const dir = await checkoutOf(ports, commonDir)
      await trying(`${what} of ${dir}`, () => work(dir, id))
    }
  }
  return {
    async begin() {
      const { recover } = await import('../core/recovery/reconcile.ts')
      await trying('recovery', () => recover(ports, signal))
      await trying('the orders of the queue', dispatcher.tidy)
      await noteKeeper(ports, true)
    },
    async dispatch() {
      const first = await dispatcher.dispatch()
      if (!first.hasDead || performance.now() - settledAt < settleMs) return first
      settledAt = performance.now()
      const { recoverFirst } = await import('../core/recovery/reconcile.ts')
      await trying('recovery', () => recoverFirst(ports, signal))
      return dispatcher.dispatch()
    },
    readSeq: async () => (await ports.store.readPosition([])).seq,
    jobs: [
      { name: 'disk', everyMs: minute, work: openDiskWatch(ports, heard) },
      { name: 'prune', everyMs: second, work: openPrunes(ports, heard, eachRepo, signal) },
      { name: 'idle', everyMs: minute, work: () => eachRepo('idle', (dir) => revertIdle(ports, dir)) },
      { name: 'trash', everyMs: hour, work: () => eachRepo('trash', (dir) => tidyTrash(ports, dir, signal)) },
    ],
    async recoverMeanwhile() {
      // With settings that cannot be read, the queue goes on all the same.
      const { recover } = await ports.settings.read(null).catch(() => defaultSettings)
      return recoverMeanwhile(ports, recover.everyMinutes)
    },
    async end() {
      await noteKeeper(ports, false)
      await dispatcher.settle()
    },
  }
}

/** The main checkout, whose settings hold; of a bare repository its own folder. */
async function checkoutOf(ports: Ports, commonDir: string): Promise<string> {
  const root = repoRoot(commonDir)
  const found = await ports.locate(root).catch(() => undefined)
  return found?.commonDir === commonDir ? root : commonDir
}

async function settingsAt(ports: Ports, dir: string) {
  return ports.settings.read((await ports.locate(dir)).checkout)
}

/** Auto-revert of tasks that nobody uses, which else the next command does. */
async function revertIdle(ports: Ports, dir: string): Promise<void> {
  const { autoRevert } = await import('../core/closing/auto-revert.ts')
  await autoRevert(ports, { dir, byFolder: false })
}

/** What `trash.keepDays` and `trash.maxMegabytes` let go, also where nobody prunes. */
async function tidyTrash(ports: Ports, dir: string, signal: AbortSignal): Promise<void> {
  const [{ shrink }, { findRepo }] = await Promise.all([
    import('../core/trash/shrink.ts'),
    import('../core/tasks/repo.ts'),
  ])
  const { repo } = await findRepo(ports, dir)
  if (repo) await shrink(ports, repo, await settingsAt(ports, dir), {}, signal)
}

/** Settings of all repositories are read this often, unless one of them wants to be pruned more often. */
const settingsMs = minute

type EachRepo = (what: string, work: (dir: string, id: string) => Promise<void>) => Promise<void>

/** Prunes each repository when its `prune.everyHours` have passed since the last time, also across restarts. */
function openPrunes(
  ports: Ports,
  heard: Heard,
  eachRepo: EachRepo,
  signal: AbortSignal,
): () => Promise<void> {
  let lookAt = 0
  let known = 0
  return async () => {
    const { length } = await ports.repos.readAll()
    if (performance.now() < lookAt && length === known) return
    known = length
    let soonest = settingsMs
    await eachRepo('prune', async (dir, id) => {
      const everyMs = (await settingsAt(ports, dir)).prune.everyHours * hour
      if (everyMs === 0) return
      soonest = Math.min(soonest, everyMs)
      if (await isPruneDue(ports, id, everyMs)) await pruneAt(ports, dir, heard, signal)
    })
    lookAt = performance.now() + soonest
  }
}

async function isPruneDue({ clock, notes }: Ports, id: string, everyMs: number): Promise<boolean> {
  const note = `pruned at ${id}`
  const now = clock.now()
  const last = Date.parse((await notes.find(note)) ?? '')
  // A time in the future is of a wrong clock.
  if (Math.abs(now.getTime() - last) < everyMs) return false
  await notes.put(note, now.toISOString())
  return true
}

async function pruneAt(ports: Ports, dir: string, heard: Heard, signal: AbortSignal): Promise<void> {
  const { prune } = await import('../core/verbs/prune.ts')
  const { removed, errors } = await prune(ports, { dir }, signal)
  for (const { task } of removed) heard.did(`pruned ${task.id}`, dir)
  for (const { task, error } of errors) heard.failed(`prune of ${task.id}`, error)
}

/** Tells when the disk becomes fuller than `disk.warnPercent`, and when it has space again: each once. */
function openDiskWatch(ports: Ports, heard: Heard): () => Promise<void> {
  let wasFull = false
  return async () => {
    const { readUsedPercent } = await import('../core/trash/disk-warning.ts')
    const { warnPercent } = (await ports.settings.read(null)).disk
    const used = await readUsedPercent(ports)
    const isFull = used >= warnPercent
    if (isFull !== wasFull) heard.disk(used, warnPercent)
    wasFull = isFull
  }
}
