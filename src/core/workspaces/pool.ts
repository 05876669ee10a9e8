/** Makes slots (workspaces ahead of need), hands them to starts, removes them (docs/adr/0022-workspaces-made-ahead.md). */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { AppError, appError } from '../model/errors.ts'
import { baseFolder } from '../model/names.ts'
import type { Place, Repo, RepoRecord } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import type { Owner } from '../model/task.ts'
import { poolOf, slotParts } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { mainRoot } from '../tasks/repo.ts'
import { makeBase, requireBase } from './make.ts'
import { claim, poolNote } from './slot.ts'

/** `slot.json`, which is written last: a slot without it is incomplete. */
interface SlotRecord {
  readonly commit: string
  readonly conversions: string
  readonly look: string
}

interface Slot extends SlotRecord {
  readonly path: string
}

/** The note of a pool: slots are being made by `owner`; without an owner, there are slots to remove. */
interface PoolMark {
  readonly folder: string
  readonly owner?: Owner
}

export function poolLock({ commonDir }: Pick<Place, 'commonDir'>): string {
  return `pool ${commonDir}`
}

const isReadyName = (name: string) => !name.includes('.')

async function readSlots(ports: Pick<Ports, 'files'>, pool: string): Promise<Slot[]> {
  const names = (await ports.files.readNames(pool)).filter(isReadyName)
  const slots = await Promise.all(
    names.map(async (name) => {
      const text = await ports.files.readText(slotParts(path.join(pool, name)).record)
      return text ? [{ ...(JSON.parse(text) as SlotRecord), path: path.join(pool, name) }] : []
    }),
  )
  return slots.flat()
}

/** The slots with the present conversions; those of the wanted commit come first. */
export function fittingSlots<S extends SlotRecord>(
  slots: readonly S[],
  commit: string,
  conversions: string | undefined,
): S[] {
  const fit = slots.filter((slot) => slot.conversions === conversions)
  return fit.toSorted((a, b) => Number(b.commit === commit) - Number(a.commit === commit))
}

/** Gives the task a slot. `whole`: the vault has the preparations of step 0 too; `files`: only the folder is ready. */
export async function takeSlot(work: Work): Promise<'none' | 'files' | 'whole'> {
  const { ports, repo, task, signal } = work
  if (task.isolation !== 'worktree') return 'none'
  const slots = await readSlots(ports, poolOf(path.dirname(task.path)))
  if (slots.length === 0) return 'none'
  const conversions = await ports.seeding.findConversions(repo, signal)
  for (const slot of fittingSlots(slots, task.base.commit, conversions)) {
    const taken = `${slot.path}.${task.uid}`
    if (!(await claim(ports, slot.path, taken))) continue
    const isSame = (await ports.slots.readLook(taken)) === slot.look
    if (isSame && !(await ports.seeding.isTouched(repo, taken))) {
      const given = await handToTask(work, slot, taken)
      if (given !== 'none') return given
    }
    await markAsGone(ports, repo, taken)
  }
  return 'none'
}

async function handToTask(
  { ports, repo, task, signal }: Work,
  slot: Slot,
  taken: string,
): Promise<'none' | 'files' | 'whole'> {
  const { commit } = task.base
  const isSame = slot.commit === commit
  if (!isSame && !(await ports.slots.advance(repo, taken, slot.commit, commit, signal))) return 'none'
  signal?.throwIfAborted()
  await ports.slots.handOver(repo, task, taken)
  if (isSame) await ports.seeding.takeSlot(repo, task, taken)
  await ports.files.remove(taken)
  return isSame ? 'whole' : 'files'
}

/** Only renames the slot, because `start` must not wait; the pool process deletes it later. */
async function markAsGone(ports: Pick<Ports, 'files' | 'notes'>, repo: Repo, slot: string): Promise<void> {
  const folder = path.dirname(slot)
  await ports.files.rename(slot, `${slot.slice(0, slot.lastIndexOf('.'))}.gone`)
  if ((await findMark(ports, repo.id))?.owner === undefined) await putMark(ports, repo.id, { folder })
}

async function findMark(ports: Pick<Ports, 'notes'>, repo: string): Promise<PoolMark | undefined> {
  const text = await ports.notes.find(poolNote(repo))
  return text ? (JSON.parse(text) as PoolMark) : undefined
}

export async function putMark(
  ports: Pick<Ports, 'notes'>,
  repo: string,
  mark: PoolMark | undefined,
): Promise<void> {
  await ports.notes.put(poolNote(repo), mark ? JSON.stringify(mark) : '')
}

/** Starts a process that fills the pool, unless the pool is full or such a process runs. */
export async function askForSlots({ ports, repo, task }: Work, settings: Settings): Promise<void> {
  if (task.isolation !== 'worktree' || settings.pool.size === 0 || repo.place.checkout === null) return
  const owner = (await findMark(ports, repo.id))?.owner
  if (owner && (await ports.isAlive(owner))) return
  const slots = await readSlots(ports, poolOf(path.dirname(task.path)))
  const fresh = slots.filter((slot) => slot.commit === task.base.commit)
  if (fresh.length < settings.pool.size) ports.makeAhead(repo.place.checkout, settings)
}

export interface Filled {
  /** How many are ready now. */
  readonly slots: number
  readonly made: number
}

export async function findPool(
  ports: Pick<Ports, 'files' | 'home' | 'userHome'>,
  repo: Repo,
  settings: Settings,
): Promise<string> {
  const root = mainRoot(repo.place)
  const at = { home: ports.home, repo: repo.name, root, userHome: ports.userHome }
  return poolOf(await requireBase(ports, baseFolder(settings.workspace.base, at), repo.place))
}

/** Removes all slots of a repository, and answers how many folders went. */
export async function emptyPool(ports: Ports, repo: Repo, signal?: AbortSignal): Promise<number> {
  const folder = await findPool(ports, repo, await ports.settings.read(repo.place.checkout))
  const options = { verb: 'pool', signal }
  return ports.locks.hold(poolLock(repo.place), options, () => takeAway(ports, folder, () => true))
}

export async function fill(
  ports: Ports,
  repo: Repo,
  folder: string,
  size: number,
  signal?: AbortSignal,
): Promise<Filled> {
  const [conversions, commit] = [
    await ports.seeding.findConversions(repo, signal),
    await ports.history.findCommit(repo.place, 'HEAD', signal),
  ]
  const slots = await readSlots(ports, folder)
  const kept = commit === undefined ? [] : fittingSlots(slots, commit, conversions).slice(0, size)
  await takeAway(ports, folder, (name) => !kept.some((slot) => slot.path === path.join(folder, name)))
  let made = 0
  if (commit !== undefined && conversions !== undefined && size > kept.length) {
    await makeBase(ports, repo, folder)
    while (kept.length + made < size && (await hasSpace(ports, folder))) {
      await makeSlot(ports, repo, folder, { commit, conversions }, signal)
      made++
    }
  }
  return { slots: kept.length + made, made }
}

/** Whether more than a tenth of the disk is free; the last tenth is not for slots, which may never be used. */
async function hasSpace(ports: Pick<Ports, 'disk'>, folder: string): Promise<boolean> {
  const { free, total } = await ports.disk.readFreeSpace(folder)
  return free > total / 10
}

async function makeSlot(
  ports: Ports,
  repo: Repo,
  folder: string,
  as: Pick<SlotRecord, 'commit' | 'conversions'>,
  signal?: AbortSignal,
): Promise<void> {
  const slot = path.join(folder, ports.ids.uid())
  const making = `${slot}.making`
  await ports.files.makeFolder(making, 0o700)
  await ports.slots.fill(repo, making, as.commit, signal)
  await ports.seeding.prepareSlot(repo, making, as.commit, signal)
  // If the settings changed while git wrote the files, some files have the old conversions.
  if ((await ports.seeding.findConversions(repo, signal)) !== as.conversions)
    throw new AppError('locked', 'The settings of the repository have just changed.')
  const record: SlotRecord = { ...as, look: await ports.slots.readLook(making) }
  await ports.files.write(slotParts(making).record, JSON.stringify(record), 0o600)
  await ports.files.rename(making, slot)
}

/** Deletes slots that are half-made, marked as gone or taken by a start that is over, and unwanted ready ones. */
export async function takeAway(
  ports: Pick<Ports, 'files' | 'store'>,
  folder: string,
  isUnwanted: (name: string) => boolean,
): Promise<number> {
  let gone = 0
  for (const name of await ports.files.readNames(folder)) {
    const [id = '', state] = name.split('.')
    if (state === undefined && isUnwanted(name)) {
      const leaving = path.join(folder, `${id}.gone`)
      if (await claim(ports, path.join(folder, name), leaving)) {
        await ports.files.remove(leaving)
        gone += 1
      }
    }
    if (state === undefined || (await ports.store.findTaskByUid(state))?.pending?.verb === 'start') continue
    await ports.files.remove(path.join(folder, name))
    gone += 1
  }
  return gone
}

/** Part of every recovery: deletes the half-made slots of processes that died. */
export async function recoverPools(ports: Ports): Promise<void> {
  for (const [key, text] of await ports.notes.readBelow(poolNote(''))) {
    const { folder } = JSON.parse(text) as PoolMark
    const record = await ports.repos.findById(key.slice(poolNote('').length))
    if (!record) continue
    // Holding the lock proves that no process makes slots there.
    await removeLeftovers(ports, record, folder).catch((thrown: unknown) => {
      // The next recovery tries again.
      if (appError(thrown).kind === 'cancelled') throw thrown
    })
  }
}

function removeLeftovers(ports: Ports, record: RepoRecord, folder: string): Promise<void> {
  return ports.locks.hold(poolLock(record), { verb: 'recover', waitMs: 0 }, async () => {
    await takeAway(ports, folder, () => false)
    await putMark(ports, record.id, undefined)
  })
}
