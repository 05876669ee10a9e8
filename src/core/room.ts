/** A disk that is full, or nearly: the trash gives up what the vault holds as well. */
import path from 'node:path'
import { slim } from './compact.ts'
import { appError } from './errors.ts'
import type { Ports, RepoRecord } from './ports.ts'
import type { Settings } from './settings.ts'
import { isOpen, type Task } from './task.ts'

/** How full the disk of the state folder is, from 0 to 100. */
async function readUsedPercent(ports: Ports): Promise<number> {
  const { free, total } = await ports.files.readFreeSpace(ports.home)
  return total === 0 ? 0 : Math.floor((1 - free / total) * 100)
}

/** Empties the trash when the disk is fuller than it may be, oldest first, until it is not. Answers what to tell. */
export async function relieve(
  ports: Ports,
  { disk }: Settings,
  { dryRun }: { readonly dryRun?: boolean | undefined } = {},
  signal?: AbortSignal,
): Promise<string[]> {
  const used = await readUsedPercent(ports)
  if (used < disk.warnPercent) return []
  const full = `The disk of ${ports.home} is ${used} % full (disk.warnPercent is ${disk.warnPercent}).`
  if (dryRun) return [full]
  const isEnough = async () => (await readUsedPercent(ports)) < disk.warnPercent
  const left = await makeRoom(ports, isEnough, signal)
  return left === 0 ? [full] : [`${full} ${left} folders left the trash; their files are in the vault.`]
}

/** Does the work; should the disk be full, once more with what the trash could spare. */
export async function withRoom<T>(ports: Ports, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const error = appError(thrown)
    if (error.code !== 'WT_014') throw error
    const freed = await makeRoom(ports, async () => false, signal).catch(() => 0)
    if (freed === 0) throw error
    return work()
  }
}

/** Answers how many folders have left. What is only a leftover goes first: it needs no look into the vault. */
async function makeRoom(
  ports: Ports,
  isEnough: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  let left = 0
  for (const folder of leftovers(ports)) {
    if ((await ports.files.readKind(folder)) === undefined) continue
    await ports.files.remove(folder)
    left += 1
  }
  for (const task of inTrash(ports)) {
    if (await isEnough()) return left
    const record = ports.store.findRepoById(task.repo)
    if (record)
      left += (await slim(ports, await opened(ports, record), [task], signal).catch(() => [])).length
  }
  return left
}

async function opened(ports: Ports, record: RepoRecord) {
  const { commonDir } = record
  const place = await ports.locate(commonDir).catch(() => undefined)
  return { ...record, place: place ?? { commonDir, gitDir: commonDir, checkout: null } }
}

/** Oldest first, of every repository. */
function inTrash({ store }: Ports): Task[] {
  const done = new Set(store.readEvents({ types: ['operation.done'] }).map(({ uid }) => uid))
  return Array.from(done)
    .flatMap((uid) => store.findTaskByUid(uid) ?? [])
    .filter((task) => task.trash !== undefined && !isOpen(task))
    .sort((a, b) => (a.closedAt ?? '').localeCompare(b.closedAt ?? ''))
}

/** Workspaces that nobody was ever given, as their start was taken back: they hold nothing but the base. */
function leftovers(ports: Ports): string[] {
  const used = new Set(inTrash(ports).map(({ trash }) => trash))
  return ports.store
    .readEvents({ types: ['start.undone'] })
    .flatMap(({ event }) => (event.type === 'start.undone' && event.trash ? [event.trash] : []))
    .filter((folder) => !used.has(folder) && path.basename(path.dirname(folder)) === '.trash')
}
