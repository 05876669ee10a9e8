/** Frees space on a full or nearly full disk: deletes leftovers, slots, and folders of the trash that the vault has. */
import type { Settings } from '../model/settings.ts'
import { isOpen, type Task } from '../model/task.ts'
import { trashFolderOf } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { readKnown } from '../tasks/known.ts'
import { repoAt } from '../tasks/repo.ts'
import { emptyPool } from '../workspaces/pool.ts'
import { fullText, readUsedPercent } from './disk-warning.ts'
import { undoneStarts, usedTrash } from './loose.ts'
import { slim } from './slim.ts'

/** If the disk is fuller than `disk.warnPercent`, deletes until it is not. Answers lines for the user. */
export async function relieve(
  ports: Ports,
  settings: Settings,
  { dryRun }: { readonly dryRun?: boolean | undefined } = {},
  signal?: AbortSignal,
): Promise<string[]> {
  const used = await readUsedPercent(ports)
  const { warnPercent } = settings.disk
  if (used < warnPercent) return []
  const full = fullText(ports.home, used, settings)
  if (dryRun) return [full]
  const isEnough = async () => (await readUsedPercent(ports)) < warnPercent
  const freed = await freeSpace(ports, isEnough, signal)
  return freed === 0 ? [full] : [`${full} What can be made again has left the trash and the pool.`]
}

/**
 * Answers how many folders were deleted. Leftovers go first, because deleting them needs neither the vault nor an event, for
 * which a full disk may have no space.
 */
export async function freeSpace(
  ports: Ports,
  isEnough: () => Promise<boolean> = async () => false,
  signal?: AbortSignal,
): Promise<number> {
  let left = await dropLeftovers(ports)
  left += await emptyPools(ports, isEnough, signal)
  for (const task of await readTrashed(ports)) {
    if (await isEnough()) return left
    const record = await ports.repos.findById(task.repo)
    if (record)
      left += Number(
        await slim({ ports, repo: await repoAt(ports, record), task, signal }).catch(() => false),
      )
  }
  return left
}

/**
 * Counts all but the newest leftover. That one is of the start that has just failed, and deleting it only makes the disk as
 * full as it was before that start.
 */
async function dropLeftovers(ports: Pick<Ports, 'files' | 'store'>): Promise<number> {
  const found = (await findLeftovers(ports)).toSorted((a, b) =>
    a.task.createdAt.localeCompare(b.task.createdAt),
  )
  const newest = found.at(-1)?.task.uid
  let dropped = 0
  for (const { folder, task } of found) {
    if ((await ports.files.readKind(folder)) === undefined) continue
    const isGone = await ports.files.remove(folder).then(
      () => true,
      () => false,
    )
    dropped += Number(isGone && task.uid !== newest)
  }
  return dropped
}

/** Deletes all slots, which can be made again. */
async function emptyPools(
  ports: Ports,
  isEnough: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  let emptied = 0
  for (const record of await ports.repos.readAll()) {
    if (await isEnough()) break
    emptied += await emptyPool(ports, await repoAt(ports, record), signal).catch(() => 0)
  }
  return emptied
}

/** Closed tasks with a folder in the trash, of all repositories, oldest first. */
async function readTrashed({ store }: Pick<Ports, 'store'>): Promise<Task[]> {
  const done = new Set((await store.readEvents({ types: ['operation.done'] })).map(({ uid }) => uid))
  return [...(await readKnown(store, done)).values()]
    .filter((task) => task.trash !== undefined && !isOpen(task))
    .sort((a, b) => (a.closedAt ?? '').localeCompare(b.closedAt ?? ''))
}

/** The workspaces of starts that failed. No agent ever worked there, so they hold only files of the base. */
async function findLeftovers(
  ports: Pick<Ports, 'store'>,
): Promise<{ readonly folder: string; readonly task: Task }[]> {
  const { store } = ports
  const used = await usedTrash(store)
  // On a full disk the event `start.undone` may have failed, so the start still looks pending.
  const halfMade = (await store.readPendingTasks())
    .filter(({ pending, shadow }) => pending?.verb === 'start' && !shadow)
    .map((task) => ({
      task,
      folder: trashFolderOf(task.path),
    }))
  return [...(await undoneStarts(store)), ...halfMade].filter(({ folder }) => !used.has(folder))
}
