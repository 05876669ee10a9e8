/** Keeps trash and vault of a repository within their limits: deletes what expired, slims the trash, packs the vault. */
import { counted } from '../base/counted.ts'
import type { Work } from '../tasks/work.ts'
import { apart, type Failed } from '../base/failures.ts'
import { day, now } from '../base/time.ts'
import type { Repo } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { holdFree } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { sizeText } from '../model/disk-use.ts'
import { trashParts } from '../model/layout.ts'
import { expire, whileNobodyWorks } from './expire.ts'
import { expireLoose, findDueLoose } from './loose.ts'
import {
  type Announced,
  announcementsOf,
  type ClosedTask,
  compaction,
  type Compaction,
  excess,
  mayExpire,
  split,
  withoutClockJumps,
} from './retention.ts'

export interface CompactOptions {
  /** Slims folders at once, without waiting for their announcement. */
  readonly force?: boolean | undefined
  readonly dryRun?: boolean | undefined
}

interface Compacted {
  /** Lines for the user: what was deleted, or will be; empty when all is within its limits. */
  readonly said: readonly string[]
  /** Deletions that failed; the next prune tries again. */
  readonly errors: readonly Failed[]
}

export async function compact(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  options: CompactOptions = {},
  signal?: AbortSignal,
): Promise<Compacted> {
  const { notes, clock } = ports
  const now = clock.now()
  const { keepDays, maxMegabytes } = settings.trash
  const measured = await notes.find(measuredNote(repo))
  const measures = Boolean(options.force) || isDue(measured, now)
  const closed = await closedTasks(ports, repo, measures)
  const bytes = measures ? await ports.care.readUsage(repo) : 0
  const before = {
    slims: await readAnnounced(ports, announcedNote(repo)),
    expires: await readExpiring(ports, repo),
  }
  const known = options.force ? { ...before, slims: 'at once' as const } : before
  const plan = compaction(closed, bytes, settings.trash, now, known)
  const loose = split(await findDueLoose(ports, repo, keepDays), ({ folder, since }) =>
    mayExpire(since, keepDays, now, before.expires[folder]),
  )
  const said = announcements(plan, loose.waits.length, settings)
  const errors: Failed[] = []
  if (options.dryRun)
    return {
      said: [...said, ...(await previewLines(ports, repo, plan, loose.goes.length, keepDays, signal))],
      errors,
    }
  // A new repository has nothing to measure yet.
  if (measures || measured === undefined) await notes.put(measuredNote(repo), now.toISOString())
  if (measures)
    await notes.put(
      announcedNote(repo),
      JSON.stringify(announcementsOf(uidsOf(plan.announced), before.slims, now)),
    )
  const expiring = [...uidsOf(plan.expiring), ...loose.waits.map(({ folder }) => folder)]
  await putExpiring(ports, repo, announcementsOf(expiring, before.expires, now))
  const left = new Set<string>()
  for (const task of plan.slims)
    await apart([task], errors, async () => (await slim({ ports, repo, task, signal })) && left.add(task.uid))
  if (left.size > 0) said.push(`${counted(left.size, 'folder')} left the trash; the vault has the files.`)
  const expired = await expire(ports, repo, plan.expires, errors, signal)
  if (expired > 0)
    said.push(`Deleted for good: ${counted(expired, 'task')}, closed for ${counted(keepDays, 'day')}.`)
  const gone = await expireLoose(ports, loose.goes, keepDays, errors, signal)
  if (gone > 0)
    said.push(
      `Deleted for good: ${counted(gone, 'folder')} of no operation, in the trash for ${counted(keepDays, 'day')}.`,
    )
  // If folders were announced, their deletion may be enough; then the vault need not be packed.
  if (measures && plan.announced.length === 0) {
    const going = new Set([...left, ...uidsOf(plan.expires.map(({ task }) => task))])
    const kept = closed.filter(({ task }) => !going.has(task.uid))
    said.push(...(await packVault(ports, repo, kept, maxMegabytes, signal)))
  }
  return { said, errors }
}

const announcedNote = ({ id }: Repo) => `announced ${id}`
const expiringNote = ({ id }: Repo) => `expiring ${id}`
const measuredNote = ({ id }: Repo) => `measured ${id}`

const uidsOf = (tasks: readonly Task[]) => tasks.map(({ uid }) => uid)
const idsOf = (tasks: readonly Task[]) => tasks.map(({ id }) => id).join(', ')

async function readAnnounced({ notes }: Pick<Ports, 'notes'>, note: string): Promise<Announced> {
  return JSON.parse((await notes.find(note)) ?? '{}') as Announced
}

/** The announcements of deletions for good, and the number of the last event before them. */
interface Expiring {
  readonly announced: Announced
  readonly after: number
}

async function readExpiring(
  { store, notes }: Pick<Ports, 'notes' | 'store'>,
  repo: Repo,
): Promise<Announced> {
  const text = await notes.find(expiringNote(repo))
  if (!text) return {}
  const { announced, after } = JSON.parse(text) as Expiring
  return withoutClockJumps(announced, await store.readEvents({ after }))
}

async function putExpiring(
  { store, notes }: Pick<Ports, 'notes' | 'store'>,
  repo: Repo,
  announced: Announced,
): Promise<void> {
  const isEmpty = Object.keys(announced).length === 0
  if (isEmpty && !(await notes.find(expiringNote(repo)))) return
  const noted: Expiring = { announced, after: (await store.readPosition([])).seq }
  await notes.put(expiringNote(repo), isEmpty ? '' : JSON.stringify(noted))
}

/** Whether a day has passed since sizes were measured, which takes time. A last time in the future counts as passed, too. */
function isDue(last: string | undefined, now: Date): boolean {
  return last !== undefined && Math.abs(now.getTime() - Date.parse(last)) > day
}

/** The lines that announce deletions. */
function announcements(plan: Compaction, loose: number, { trash }: Settings): string[] {
  const said: string[] = []
  if (plan.announced.length > 0)
    said.push(
      `Trash and vault take more than ${trash.maxMegabytes} MB (trash.maxMegabytes). The folders of ${idsOf(plan.announced)} ` +
        'will leave the trash; their files are in the vault, what git ignores is not.',
    )
  const later = 'the first prune that comes a day from now or later lets them go for good'
  if (plan.expiring.length > 0)
    said.push(
      `Closed more than ${trash.keepDays} days ago (trash.keepDays), ${later}: ${idsOf(plan.expiring)}. ` +
        'Until then offshoot undo brings them back; offshoot ops lists them.',
    )
  if (loose > 0)
    said.push(
      `In the trash for ${counted(trash.keepDays, 'day')}: ${counted(loose, 'folder')} of no operation; ${later}.`,
    )
  return said
}

/** The lines that say what a prune would delete now. */
async function previewLines(
  ports: Ports,
  repo: Repo,
  { slims, expires }: Compaction,
  loose: number,
  keepDays: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const said: string[] = []
  const leaving: Task[] = []
  for (const task of slims) if (await canLeave({ ports, repo, task, signal })) leaving.push(task)
  if (leaving.length > 0)
    said.push(`The folders of ${idsOf(leaving)} would leave the trash; their files are in the vault.`)
  const gone = idsOf(expires.map(({ task }) => task))
  if (expires.length > 0) said.push(`Closed for ${keepDays} days, these would be gone for good: ${gone}.`)
  if (loose > 0)
    said.push(
      `Would be deleted for good: ${counted(loose, 'folder')} of no operation, in the trash for ${counted(keepDays, 'day')}.`,
    )
  return said
}

/** Packs the vault, which loses nothing, if trash and vault are still too large; answers lines for the user. */
async function packVault(
  ports: Pick<Ports, 'care' | 'locks' | 'store'>,
  repo: Repo,
  kept: readonly ClosedTask[],
  maxMegabytes: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const before = await ports.care.readUsage(repo)
  if (excess(kept, before, maxMegabytes) <= 0) return []
  await whileNobodyWorks(ports, repo, [], signal, async () => {
    await ports.care.compact(repo, { tasks: [], operations: [] }, signal)
    return 0
  })
  const after = await ports.care.readUsage(repo)
  const freed = before > after ? [`The vault was packed, which freed ${sizeText(before - after)}.`] : []
  const over = excess(kept, after, maxMegabytes)
  if (over <= 0) return freed
  const still =
    `Trash and vault take ${sizeText(over)} more than trash.maxMegabytes (${maxMegabytes} MB), and nothing more can leave ` +
    'by itself. A smaller trash.keepDays lets closed tasks go sooner; a larger trash.maxMegabytes lets them stay.'
  return [...freed, still]
}

/** The closed tasks of the repository, hidden ones included. */
async function closedTasks(
  ports: Pick<Ports, 'disk' | 'store'>,
  repo: Repo,
  measures: boolean,
): Promise<ClosedTask[]> {
  const lastAt = new Map<string, string>()
  for (const { uid, at } of await ports.store.readEvents({ types: ['operation.done'] })) lastAt.set(uid, at)
  const closed: ClosedTask[] = []
  for (const [uid, at] of lastAt) {
    const task = await ports.store.findTaskByUid(uid)
    if (task?.repo !== repo.id || isOpen(task) || task.pending || task.expiry === 'done') continue
    const bytes = measures && task.trash !== undefined ? await ports.disk.readUsage(task.trash) : 0
    closed.push({ task, lastAt: at, bytes })
  }
  return closed
}

const folderOf = (trash: string) => trashParts(trash).workspace
const leavingOf = (trash: string) => trashParts(trash).leaving

/**
 * Deletes the folder of a closed task from the trash if its last step holds every file; an undo makes the folder again. It
 * is renamed first, so that an undo never finds a half-deleted folder. Answers whether it was deleted.
 */
export function slim(work: Work): Promise<boolean> {
  const { ports, task: named, signal } = work
  return holdFree(ports, [named], { verb: 'prune', signal }, async ([held]) => {
    const task = held && (await ports.store.findTaskByUid(held.uid))
    if (!task || isOpen(task) || task.pending || task.trash === undefined) return false
    const [folder, leaving] = [folderOf(task.trash), leavingOf(task.trash)]
    const leaves = await canLeave({ ...work, task })
    if (leaves) {
      await ports.files.remove(leaving)
      await ports.files.rename(folder, leaving)
    }
    const bytes = await ports.disk.readUsage(leaving)
    if (bytes === 0) return leaves
    await ports.files.remove(leaving)
    // Last, because a full disk has space for the event only now.
    await append(ports, task.uid, { type: 'trash.slimmed', bytes }, now(ports))
    return leaves
  })
}

/** Whether the vault can make the folder again. A clone stays, because it has commits of the agent that no step holds. */
async function canLeave({ ports, repo, task, signal }: Work): Promise<boolean> {
  if (task.isolation !== 'worktree' || task.trash === undefined) return false
  const folder = folderOf(task.trash)
  if ((await ports.files.readKind(folder)) !== 'folder') return false
  return ports.steps.isKept(repo, task, folder, signal)
}
