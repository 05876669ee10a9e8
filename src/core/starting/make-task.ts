/** Makes a task as planned: its record, refs and workspace; or takes all of it back. */
import { allEnded } from '../base/concurrency.ts'
import { counted } from '../base/counted.ts'
import { now } from '../base/time.ts'
import { following } from '../base/watch.ts'
import type { BytePath } from '../model/bytes.ts'
import { AppError, appError } from '../model/errors.ts'
import type { Submodules } from '../model/git.ts'
import { repoLock } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { Leaf } from '../model/tree.ts'
import { perform } from '../operations/perform.ts'
import { entering } from '../operations/shadow.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import { include, type Included } from '../workspaces/include.ts'
import { makeFolder, makeRefs, undoStart } from '../workspaces/make.ts'
import { askForSlots, takeSlot } from '../workspaces/pool.ts'
import { holdBlock } from '../workspaces/port-block.ts'

export interface Made {
  readonly task: Task
  /** Ignored files of the user that the new workspace got. */
  readonly included?: Included | undefined
  /** Which submodules of a new workspace were checked out, and which were not. */
  readonly submodules?: Submodules | undefined
  /** Files that are still Git LFS pointers. */
  readonly pointers?: readonly string[] | undefined
  /** On a shadow branch: how many files with uncommitted changes of the user were put away. */
  readonly putAway?: number | undefined
}

export interface MakeOptions {
  /** Starts from the checkout as it is, with uncommitted changes. */
  readonly dirty?: boolean | undefined
}

/** Makes the planned task. The caller holds the lock of its id. */
export async function makeTask(plan: Work, settings: Settings, options: MakeOptions): Promise<Made> {
  const { ports, repo } = plan
  const changes = options.dirty ? await captureDirt(plan) : undefined
  const work = { ...plan, task: await begin(plan, settings) }
  const { shadow } = work.task
  try {
    if (shadow) return await makeShadow(work, { ...work.task, shadow })
    return await fill(work, settings, changes)
  } catch (error) {
    // If this fails too, the task stays pending, and the next command takes it back.
    await undoStart({ ports, repo, task: work.task }, appError(error)).catch(() => {})
    throw error
  }
}

/** The user's uncommitted changes: they are in the workspace from the beginning, and never count as the agent's work. */
async function captureDirt({
  ports,
  repo: { place, ...repo },
  task,
  signal,
  watch,
}: Work): Promise<ReadonlyMap<BytePath, Leaf | null>> {
  if (place.checkout === null)
    throw new AppError('notARepository', 'A bare repository has no checkout to start from.', {
      hint: 'Leave --dirty out.',
    })
  return ports.contents.captureChanges(
    { ...repo, place },
    place.checkout,
    task.base.commit,
    following({ signal, watch }, 'reading'),
  )
}

/** Appends `start.begun`, unless the repository has too many tasks; answers the task with its block of ports. */
function begin({ ports, repo, task: plan, signal }: Work, settings: Settings): Promise<Task> {
  return ports.locks.hold(repoLock(repo.place), { verb: 'start', signal }, async () => {
    requireBelowLimit(await ports.store.countOpenTasks(repo.id), settings.limits.perRepo)
    return holdBlock(
      ports,
      settings.ports,
      plan,
      async (portBlock) => {
        signal?.throwIfAborted()
        const task = portBlock ? { ...plan, portBlock } : plan
        const event = { type: 'start.begun', task, owner: ports.processes.self() } as const
        await append(ports, plan.uid, event, now(ports))
        return task
      },
      signal,
    )
  })
}

/** Makes refs and workspace side by side, then everything that needs the workspace, and appends `start.done`. */
async function fill(
  work: Work,
  settings: Settings,
  changes: ReadonlyMap<BytePath, Leaf | null> | undefined,
): Promise<Made> {
  const { ports, repo, task, signal } = work
  const [, plain] = await allEnded([makeRefs(work), makeWorkspace(work, settings)])
  // Converted files are kept now, while nobody can have touched them; a plain workspace equals its base commit.
  if (changes) await ports.seeding.seedWith(repo, task, changes, signal)
  else if (!plain) await ports.seeding.seed(repo, task, signal)
  const submodules = await ports.isolations.fillSubmodules(repo, task, task.base.commit, signal)
  const pointers = await ports.isolations.findPointers(repo, task, signal)
  const included = await include(work, repo.place, settings.workspace)
  signal?.throwIfAborted()
  const started = await append(ports, task.uid, { type: 'start.done' }, now(ports))
  ports.later(() => ports.seeding.seed(repo, started))
  ports.later(() => askForSlots({ ports, repo, task: started }, settings))
  return { task: started, included, submodules, pointers }
}

/** Takes a slot, or makes a new workspace. Answers whether step 0 can be made later, without reading the files. */
async function makeWorkspace(work: Work, settings: Settings): Promise<boolean> {
  const { ports, repo, task } = work
  const slot = settings.pool.size > 0 ? await takeSlot(work) : 'none'
  if (slot === 'whole') return true
  if (slot === 'none') await makeFolder(work)
  // The index is kept now, too: files that the agent adds later would look like part of the base.
  const [plain] = await allEnded([ports.seeding.isPlain(repo, task), ports.seeding.prepare(repo, task)])
  return plain
}

async function makeShadow(
  { ports, repo, signal }: Work,
  task: Parameters<typeof entering>[2],
): Promise<Made> {
  await ports.seeding.prepare(repo, task)
  const entry = await entering(ports, repo, task, signal)
  const { task: entered } = await perform({ ports, repo, task }, entry)
  return { task: entered, putAway: entry.files?.moves.length }
}

function requireBelowLimit(open: number, limit: number): void {
  if (open < limit) return
  throw new AppError(
    'limitReached',
    `This repository has ${counted(open, 'open task')}; limits.perRepo is ${limit}.`,
    {
      hint: 'Accept or reject one of them (offshoot list); offshoot prune --dry-run shows what can go. Or raise limits.perRepo: offshoot config --show-origin shows where it is set.',
      data: { open, limit },
    },
  )
}
