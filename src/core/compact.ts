/** Keeps the trash and the vault of a repository within their limits. Nothing goes that somebody may still ask for. */
import path from 'node:path'
import { apart, type Failed } from './apart.ts'
import { keptRefs, trashRefs } from './cleanup.ts'
import { strayPins } from './stray.ts'
import { type Announced, compaction, type ClosedTask } from './compact-policy.ts'
import { day } from './day.ts'
import { holdFree } from './hold.ts'
import { expireLoose } from './loose-trash.ts'
import type { Ports, Repo } from './ports.ts'
import type { Settings } from './settings.ts'
import { isOpen, type Task } from './task.ts'

export interface CompactOptions {
  /** Without waiting for what was announced. */
  readonly force?: boolean | undefined
  readonly dryRun?: boolean | undefined
}

interface Compacted {
  /** What was done, or will be, in words; empty when all is within its limits. */
  readonly said: readonly string[]
  /** What could not go; the next prune tries it again. */
  readonly errors: readonly Failed[]
}

export async function compact(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  options: CompactOptions = {},
  signal?: AbortSignal,
): Promise<Compacted> {
  const { store } = ports
  const now = ports.clock.now()
  const measured = store.findNote(measuredNote(repo))
  const measures = options.force || isDue(measured, now)
  const closed = await closedTasks(ports, repo, measures)
  const bytes = measures ? await ports.vault.readUsage(repo) : 0
  const announced = JSON.parse(store.findNote(announcedNote(repo)) ?? '{}') as Announced
  const plan = compaction(closed, bytes, settings.trash, now, options.force ? 'at once' : announced)
  const said = plan.announced.length > 0 ? [announcement(plan.announced, settings)] : []
  const errors: Failed[] = []
  if (options.dryRun) return { said, errors }
  // In a repository that is new there is nothing to add up yet.
  if (measures || measured === undefined) store.putNote(measuredNote(repo), now.toISOString())
  if (measures) {
    const at = now.toISOString()
    const waiting = plan.announced.map(({ uid }) => [uid, announced[uid] ?? at])
    store.putNote(announcedNote(repo), JSON.stringify(Object.fromEntries(waiting)))
  }
  let slimmed = 0
  for (const task of plan.slims)
    await apart([task], errors, async () => (slimmed += Number(await slim(ports, repo, task, signal))))
  if (slimmed > 0) said.push(`${slimmed} folders left the trash; their files are in the vault.`)
  const expired = await expire(ports, repo, plan.expires, errors, signal)
  if (expired > 0)
    said.push(`${expired} tasks that were closed for ${settings.trash.keepDays} days are gone.`)
  const loose = await expireLoose(ports, repo, settings.trash.keepDays, errors, signal)
  if (loose > 0)
    said.push(
      `${loose} folders of no operation were in the trash for ${settings.trash.keepDays} days and are gone.`,
    )
  return { said, errors }
}

const announcedNote = ({ id }: Repo) => `announced ${id}`
const measuredNote = ({ id }: Repo) => `measured ${id}`

/** Adding sizes up takes time: once a day. */
function isDue(last: string | undefined, now: Date): boolean {
  return last !== undefined && now.getTime() - Date.parse(last) > day
}

function announcement(tasks: readonly Task[], { trash }: Settings): string {
  const ids = tasks.map(({ id }) => id).join(', ')
  return (
    `Trash and vault take more than ${trash.maxMegabytes} MB (trash.maxMegabytes). The folders of ${ids} will leave the ` +
    'trash; their files are in the vault, what git ignores is not.'
  )
}

/** Also those whose records are hidden. */
async function closedTasks(ports: Ports, repo: Repo, measures: boolean): Promise<ClosedTask[]> {
  const lastAt = new Map<string, string>()
  for (const { uid, at } of ports.store.readEvents({ types: ['operation.done'] })) lastAt.set(uid, at)
  const closed: ClosedTask[] = []
  for (const [uid, at] of lastAt) {
    const task = ports.store.findTaskByUid(uid)
    if (task?.repo !== repo.id || isOpen(task) || task.pending || task.expiry === 'done') continue
    const bytes = measures && task.trash !== undefined ? await ports.files.readUsage(task.trash) : 0
    closed.push({ task, lastAt: at, bytes })
  }
  return closed
}

const folderOf = (trash: string) => path.join(trash, 'workspace')
const leavingOf = (trash: string) => path.join(trash, 'workspace.gone')

/**
 * The folder of a closed task leaves the trash, when its last step holds it. It is made again should the task come back.
 * Renamed first: a folder that is half gone must not come back. Answers whether it left.
 */
export function slim(ports: Ports, repo: Repo, named: Task, signal?: AbortSignal): Promise<boolean> {
  return holdFree(ports, [named], { verb: 'prune', signal }, async ([held]) => {
    const task = held && ports.store.findTaskByUid(held.uid)
    if (!task || isOpen(task) || task.pending || task.trash === undefined) return false
    const [folder, leaving] = [folderOf(task.trash), leavingOf(task.trash)]
    const isThere = (await ports.files.readKind(folder)) === 'folder'
    // A clone has the agent's commits in it, which no step holds.
    const leaves =
      isThere && task.isolation === 'worktree' && (await ports.vault.isKept(repo, task, folder, signal))
    if (leaves) {
      await ports.files.remove(leaving)
      await ports.files.rename(folder, leaving)
    }
    const bytes = await ports.files.readUsage(leaving)
    if (bytes === 0) return leaves
    await ports.files.remove(leaving)
    // Last, as on a full disk there is room for it only now.
    ports.store.append(task.uid, { type: 'trash.slimmed', bytes }, ports.clock.now().toISOString())
    return leaves
  })
}

/** From its mark on nothing of such a task can be undone, and whoever finds the mark goes on. */
async function expire(
  ports: Ports,
  repo: Repo,
  tasks: readonly Task[],
  errors: Failed[],
  signal?: AbortSignal,
): Promise<number> {
  if (tasks.length === 0) return 0
  const now = () => ports.clock.now().toISOString()
  const open = ports.store.readTasks({ repo: repo.id, open: true })
  // Whoever is at work may count on an object that is about to go: it is done when nobody is.
  return holdFree(ports, [...tasks, ...open], { verb: 'prune', signal }, async (free) => {
    const held = new Set(free.map(({ uid }) => uid))
    if (!open.every(({ uid }) => held.has(uid))) return 0
    const going = tasks.filter(({ uid }) => held.has(uid) && isStillClosed(ports, uid))
    const mark = (marked: readonly Task[], type: 'expiry.begun' | 'expiry.done') =>
      ports.store.appendAll(
        marked.map(({ uid }) => ({ uid, event: { type } })),
        now(),
      )
    mark(going, 'expiry.begun')
    const gone: Task[] = []
    for (const task of going) {
      await apart([task], errors, async () => {
        if (task.trash !== undefined) await ports.files.remove(task.trash)
        gone.push(task)
      })
    }
    if (gone.length === 0) return 0
    let expired = 0
    await apart(gone, errors, async () => {
      const uids = gone.map(({ uid }) => uid)
      await dropKept(ports, repo, uids, signal)
      await ports.vault.compact(repo, { tasks: uids, operations: operationsOf(ports, uids) }, signal)
      mark(gone, 'expiry.done')
      expired = gone.length
    })
    return expired
  })
}

/** What holds commits in the user's repository for the sake of these. */
async function dropKept(
  { git }: Ports,
  { place }: Repo,
  uids: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const kept = new Set(uids.flatMap(keptRefs))
  const isTheirs = (ref: string) =>
    kept.has(ref) || uids.some((uid) => ref.startsWith(`${strayPins}/${uid}/`))
  const there = await git.readRefs(place, [trashRefs, strayPins], signal)
  const changes = Array.from(there, ([ref, old]) => ({ ref, old, new: null })).filter(({ ref }) =>
    isTheirs(ref),
  )
  if (changes.length > 0) await git.changeRefs(place, changes, 'offshoot: expire', signal)
}

function isStillClosed({ store }: Ports, uid: string): boolean {
  const task = store.findTaskByUid(uid)
  return task !== undefined && !isOpen(task) && !task.pending
}

function operationsOf({ store }: Ports, uids: readonly string[]): string[] {
  return uids.flatMap((uid) =>
    store
      .readEvents({ uid, types: ['operation.begun'] })
      .flatMap(({ event }) => (event.type === 'operation.begun' ? [event.id] : [])),
  )
}
