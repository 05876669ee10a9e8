/** Makes lost records again from the vaults: every task, step and operation (docs/adr/0019-records-from-the-vault.md). */
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { AppError, appError, isDamage } from '../model/errors.ts'
import { repoName } from '../model/names.ts'
import type { KeptOperation, Operation, OperationNote } from '../model/operation.ts'
import { pinRef } from '../model/refs.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { asideFolder } from '../model/layout.ts'
import { isBegun, stagingFolder } from '../operations/files.ts'
import { lookAtRefs } from '../operations/refs.ts'
import type { Ports } from '../ports/index.ts'
import { closeHint } from '../tasks/guards.ts'
import { readKnown } from '../tasks/known.ts'
import { adopt as adoptLog, mendRecords } from '../tasks/records.ts'
import { repoAt } from '../tasks/repo.ts'
import { type KnownTask, rebuiltLog } from './rebuilt-log.ts'

export interface Rebuilt {
  /** The folder that the damaged records were moved to. */
  readonly aside?: string | undefined
  /** The ids of the tasks. */
  readonly tasks: readonly string[]
  readonly steps: number
  readonly operations: number
  /** Tasks and vaults that could not be taken over. */
  readonly left: readonly { readonly what: string; readonly why: string; readonly hint: string }[]
}

/** Adds the missing records, all or none of each repository; existing records stay as they are. */
export function rebuild(ports: Ports, dir: string, signal?: AbortSignal): Promise<Rebuilt> {
  return ports.locks.hold('rebuild', { verb: 'repair', signal }, async () => {
    const mended = await mendRows(ports)
    const aside = await setDamagedAside(ports)
    const parts: Omit<Rebuilt, 'aside'>[] = []
    for (const { name, repo, why } of await ports.care.readVaults()) {
      signal?.throwIfAborted()
      const noted = repo ?? why ?? (await findMarked(ports, name, dir))
      parts.push(await rebuildRepo(ports, name, noted, signal))
    }
    const sum = (count: (part: Omit<Rebuilt, 'aside'>) => number) =>
      parts.reduce((total, part) => total + count(part), 0)
    return {
      aside,
      tasks: [...mended, ...parts.flatMap(({ tasks }) => tasks)],
      steps: sum(({ steps }) => steps),
      operations: sum(({ operations }) => operations),
      left: parts.flatMap(({ left }) => left),
    }
  })
}

/** Rebuilds the missing records of one repository; damage of other vaults does not matter. */
export function adopt(ports: Ports, id: string, signal?: AbortSignal): Promise<Pick<Rebuilt, 'left'>> {
  return ports.locks.hold('rebuild', { verb: 'repair', signal }, async () => {
    const vault = (await ports.care.readVaults()).find(({ repo }) => repo?.id === id)
    if (!vault) throw new AppError('failed', 'Its vault is gone.')
    return rebuildRepo(ports, vault.name, vault.repo, signal)
  })
}

/** The repository that `dir` is in, if the vault of this name is its own by its mark. */
async function findMarked(
  ports: Pick<Ports, 'clock' | 'git' | 'locate'>,
  name: string,
  dir: string,
): Promise<RepoRecord | undefined> {
  const place = await ports.locate(dir).catch(() => undefined)
  const mark = place && (await ports.git.findRepoMark(place))
  if (!mark || repoName(place.commonDir, mark.id) !== name) return undefined
  const addedAt = now(ports)
  return { id: mark.id, name, commonDir: place.commonDir, mark: mark.blob, addedAt }
}

/** Makes damaged task records again from their events. If the events are damaged too, `setDamagedAside` comes next. */
async function mendRows(ports: Ports): Promise<string[]> {
  try {
    return await mendRecords(ports)
  } catch (thrown) {
    if (isDamage(appError(thrown))) return []
    throw thrown
  }
}

/** Moves damaged records away; records of a newer offshoot, and records that may not be read, stay. */
async function setDamagedAside(ports: Ports): Promise<string | undefined> {
  if (!(await isDamaged(ports))) return undefined
  const folder = asideFolder(ports.home, ports.clock.now())
  await ports.setRecordsAside(folder)
  return folder
}

async function isDamaged(ports: Pick<Ports, 'store'>): Promise<boolean> {
  try {
    return (await ports.store.inspect()).length > 0
  } catch (thrown) {
    if (isDamage(appError(thrown))) return true
    throw thrown
  }
}

async function rebuildRepo(
  ports: Ports,
  name: string,
  noted: RepoRecord | string | undefined,
  signal?: AbortSignal,
): Promise<Omit<Rebuilt, 'aside'>> {
  try {
    const repo = await recordRepo(ports, noted)
    const known = await gather(ports, repo, signal)
    const blocks = (await ports.store.readTasks({ open: true })).flatMap(({ portBlock }) => portBlock ?? [])
    const rivals = new Set<string>()
    for (const { record } of known)
      if (await ports.store.findOpenTask(record.repo, record.id)) rivals.add(record.uid)
    const isFree = ({ uid }: Task) => !rivals.has(uid)
    const { log, tasks, taken } = rebuiltLog(known, isFree, now(ports), blocks)
    await adoptLog(ports, log)
    const count = (type: string) => log.filter(({ event }) => event.type === type).length
    return {
      tasks: tasks.map(({ id }) => id),
      steps: count('checkpoint'),
      operations: count('operation.done'),
      left: taken.map(({ id }) => ({
        what: `task ${id}`,
        why: 'there is another open task of that id',
        hint: closeHint(id),
      })),
    }
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind === 'cancelled' || error.problem === 'diskFull' || error.problem === 'stateUnusable')
      throw error
    return {
      tasks: [],
      steps: 0,
      operations: 0,
      left: [{ what: `vault ${name}`, why: error.message, hint: error.hint }],
    }
  }
}

/** The repository that its vault names. A known one keeps its record, which has the newer path if it was moved. */
async function recordRepo(
  ports: Pick<Ports, 'locate' | 'repos'>,
  noted: RepoRecord | string | undefined,
): Promise<Repo> {
  if (typeof noted === 'string')
    throw new AppError('notFound', `It cannot be read: ${noted}`, { hint: 'Make it readable, then repeat.' })
  if (!noted)
    throw new AppError('notFound', 'It does not say which repository it belongs to.', {
      hint: 'Repeat it in that repository: offshoot repair --rebuild',
    })
  const known = await ports.repos.findById(noted.id)
  if (known && known.name !== noted.name)
    throw new AppError('pathExists', `Its repository has another vault by now, ${known.name}.`, {
      hint: 'The steps of these tasks are still in it; git reads it.',
    })
  if (!known) await ports.repos.put(noted)
  return repoAt(ports, known ?? noted)
}

/** Reads the tasks without a record from the vault. */
async function gather(ports: Ports, repo: Repo, signal?: AbortSignal): Promise<KnownTask[]> {
  const uids = await ports.care.readUids(repo.name)
  const recorded = await readKnown(ports.store, uids)
  const missing = uids.filter((uid) => !recorded.has(uid))
  if (missing.length === 0) return []
  const kept = await ports.journal.readKept(repo)
  const isThere = (await ports.files.readKind(repo.commonDir)) === 'folder'
  const known: KnownTask[] = []
  for (const uid of missing) {
    signal?.throwIfAborted()
    const record = await ports.care.findRecord(repo, uid)
    if (record) known.push(await gatherTask({ ports, repo, task: record, signal }, kept, isThere))
  }
  return known
}

async function gatherTask(work: Work, kept: readonly KeptOperation[], isThere: boolean): Promise<KnownTask> {
  const { ports, repo, task: record, signal } = work
  const { publishing } = ports
  const steps = await ports.steps.readSteps(repo, record)
  const own = kept.filter(({ record: kept }) => (kept as Operation).task === record.uid)
  const done = own
    .flatMap(({ record, done }) => (done ? [{ ...done, operation: record as Operation }] : []))
    .sort((a, b) => a.order - b.order)
    .map(({ operation, note }) => ({ operation, note: note as OperationNote }))
  const last = done.at(-1)?.note.at ?? ''
  const half = own
    .filter(({ done, record }) => !done && (record as Operation).at > last)
    .map(({ record }) => record as Operation)
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .at(-1)
  return {
    record: { ...record, repo: repo.id },
    steps: await describeSteps(ports, repo, steps, signal),
    done,
    half: half && (await stageOf(ports, repo, half)),
    published: [...(await publishing.readPublished(repo, record)).values()].at(-1),
    isLeft: !isThere || (await isLeft(work)),
  }
}

/** The changes of each step; empty where objects are lost with the user's repository. */
async function describeSteps(
  ports: Pick<Ports, 'steps'>,
  repo: Repo,
  steps: readonly Step[],
  signal?: AbortSignal,
): Promise<KnownTask['steps']> {
  const [first] = steps
  if (!first) return []
  const nothing = { files: 0, insertions: 0, deletions: 0 }
  const files = await ports.steps.readFiles(repo, steps, signal).catch(() => [])
  const found: KnownTask['steps'][number][] = []
  for (const [n, step] of steps.entries()) {
    const total =
      n === 0 ? nothing : await ports.steps.readStat(repo, first, step, signal).catch(() => nothing)
    found.push({ step, files: files[n] ?? [], total })
  }
  return found
}

/** Whether a pin or a folder of the task exists; a start that was taken back leaves neither. */
async function isLeft({ ports, repo, task }: Work): Promise<boolean> {
  if ((await ports.refs.findRef(repo.place, pinRef(task.uid))) !== undefined) return true
  return (await ports.files.readKind(task.path)) !== undefined
}

/** How far an unfinished operation got; undefined when it changed nothing. */
async function stageOf(
  ports: Pick<Ports, 'contents' | 'files' | 'refs'>,
  repo: Repo,
  operation: Operation,
): Promise<KnownTask['half']> {
  const { begun } = await lookAtRefs(ports, repo, operation)
  if (begun || (await isBegun(ports, repo, operation))) return { operation, staged: true }
  const staging = await ports.files.readKind(stagingFolder(repo, operation))
  return staging === undefined ? undefined : { operation, staged: false }
}
