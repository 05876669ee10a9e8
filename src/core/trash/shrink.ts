/** Keeps trash and vault of a repository within their limits: deletes what expired, slims the trash, packs the vault. */
import { apart, type Failed } from '../base/failures.ts'
import type { Repo } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { expire, whileNobodyWorks } from './expire.ts'
import { type DueLoose, expireLoose, findDueLoose } from './loose.ts'
import { type Announced, type ClosedTask, excess, withoutClockJumps } from './retention.ts'
import { isDue, type ShrinkPlan, shrinkPlan, type TrashFacts } from './shrink-plan.ts'
import {
  announcementLines,
  type Deleted,
  deletedLines,
  type Packed,
  packedLines,
  previewLines,
} from './shrink-text.ts'
import { canLeave, slim } from './slim.ts'

export interface ShrinkOptions {
  /** Slims folders at once, without waiting for their announcement. */
  readonly force?: boolean | undefined
  readonly dryRun?: boolean | undefined
}

interface Shrunk {
  /** Lines for the user: what was deleted, or will be; empty when all is within its limits. */
  readonly said: readonly string[]
  /** Deletions that failed; the next prune tries again. */
  readonly errors: readonly Failed[]
}

type Facts = TrashFacts<DueLoose>
type Plan = ShrinkPlan<DueLoose>

export async function shrink(
  ports: Ports,
  repo: Repo,
  { trash }: Settings,
  options: ShrinkOptions = {},
  signal?: AbortSignal,
): Promise<Shrunk> {
  const facts = await gather(ports, repo, trash, options)
  const plan = shrinkPlan(facts, trash)
  const announced = announcementLines(plan, trash)
  if (options.dryRun) {
    const leaving = await readLeaving(ports, repo, plan.slims, signal)
    return { said: [...announced, ...previewLines(plan, leaving, trash)], errors: [] }
  }
  await putNotes(ports, repo, facts.now, plan)
  const errors: Failed[] = []
  const deleted = await deleteDue(ports, repo, trash, plan, errors, signal)
  const packed = plan.packs
    ? await packVault(ports, repo, keptOf(facts, plan, deleted), trash.maxMegabytes, signal)
    : nothingPacked
  return { said: [...announced, ...deletedLines(deleted, trash), ...packedLines(packed, trash)], errors }
}

async function gather(
  ports: Ports,
  repo: Repo,
  { keepDays }: Settings['trash'],
  { force = false }: ShrinkOptions,
): Promise<Facts> {
  const now = ports.clock.now()
  const measuredAt = await ports.notes.find(measuredNote(repo))
  const measures = force || isDue(measuredAt, now)
  return {
    now,
    measuredAt,
    measures,
    closed: await closedTasks(ports, repo, measures),
    vaultBytes: measures ? await ports.care.readUsage(repo) : 0,
    announced: {
      slims: await readAnnounced(ports, announcedNote(repo)),
      expires: await readExpiring(ports, repo),
    },
    loose: await findDueLoose(ports, repo, keepDays),
    atOnce: force,
  }
}

async function readLeaving(
  ports: Ports,
  repo: Repo,
  slims: readonly Task[],
  signal?: AbortSignal,
): Promise<Task[]> {
  const leaving: Task[] = []
  for (const task of slims) if (await canLeave({ ports, repo, task, signal })) leaving.push(task)
  return leaving
}

/** Deletes what the plan says; a failure does not stop the rest. */
async function deleteDue(
  ports: Ports,
  repo: Repo,
  { keepDays }: Settings['trash'],
  plan: Plan,
  errors: Failed[],
  signal?: AbortSignal,
): Promise<Deleted> {
  const slimmed: Task[] = []
  for (const task of plan.slims)
    await apart([task], errors, async () => {
      if (await slim({ ports, repo, task, signal })) slimmed.push(task)
    })
  return {
    slimmed,
    expired: await expire(ports, repo, plan.expires, errors, signal),
    loose: await expireLoose(ports, plan.loose.goes, keepDays, errors, signal),
  }
}

/** The closed tasks whose folders still count. */
function keptOf({ closed }: Facts, { expires }: Plan, { slimmed }: Deleted): ClosedTask[] {
  const gone = new Set([...slimmed, ...expires.map(({ task }) => task)].map(({ uid }) => uid))
  return closed.filter(({ task }) => !gone.has(task.uid))
}

const nothingPacked: Packed = { freed: 0, over: 0 }

/** Packs the vault, which loses nothing, if trash and vault are still too large. */
async function packVault(
  ports: Pick<Ports, 'care' | 'locks' | 'store'>,
  repo: Repo,
  kept: readonly ClosedTask[],
  maxMegabytes: number,
  signal?: AbortSignal,
): Promise<Packed> {
  const before = await ports.care.readUsage(repo)
  if (excess(kept, before, maxMegabytes) <= 0) return nothingPacked
  await whileNobodyWorks(ports, repo, [], signal, async () => {
    await ports.care.compact(repo, { tasks: [], operations: [] }, signal)
    return 0
  })
  const after = await ports.care.readUsage(repo)
  return { freed: before - after, over: excess(kept, after, maxMegabytes) }
}

const announcedNote = ({ id }: Repo) => `announced ${id}`
const expiringNote = ({ id }: Repo) => `expiring ${id}`
const measuredNote = ({ id }: Repo) => `measured ${id}`

/** Remembers the announcements, before anything is deleted. */
async function putNotes(
  ports: Pick<Ports, 'notes' | 'store'>,
  repo: Repo,
  now: Date,
  { notesTime, slimNotes, expiryNotes }: Plan,
): Promise<void> {
  if (notesTime) await ports.notes.put(measuredNote(repo), now.toISOString())
  if (slimNotes) await ports.notes.put(announcedNote(repo), JSON.stringify(slimNotes))
  await putExpiring(ports, repo, expiryNotes)
}

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
