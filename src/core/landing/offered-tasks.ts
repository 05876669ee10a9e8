/** The open tasks with what each of them would land, and where: a forecast tries these out. */
import type { BytePath } from '../model/bytes.ts'
import { appError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Conflict, LeafChange } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import { settingsOf } from '../tasks/hold.ts'
import { type Meeting, meeting, unknown } from './forecast.ts'
import { readLandingPlace, shadowedError } from './landing-place.ts'
import { lookAtMarkers } from './look.ts'
import { markerHint } from './markers.ts'
import { type Offer, offerOf } from './offer.ts'
import { patch } from './patch.ts'
import type { TrialPorts } from './trial-ports.ts'

export interface OfferedTask {
  readonly task: Task
  /** Its place is the checkout that the task lands in. */
  readonly repo: Repo
  readonly checkout: string
  readonly offer: Offer
  readonly changes: ReadonlyMap<BytePath, LeafChange>
  /** Conflict markers that the work adds: with these it lands nowhere. */
  readonly unsolved: readonly Conflict[]
  /** Why nothing lands in that checkout now. */
  readonly blocked?: string | undefined
}

/** A task that has nothing to land, or cannot, and why. */
export interface IdleTask {
  readonly task: Task
  readonly checkout: Meeting
}

/** The open tasks of a repository, oldest first. */
export async function readOpen({ store }: Pick<Ports, 'store'>, { id }: Pick<Repo, 'id'>): Promise<Task[]> {
  return (await store.readTasks({ repo: id, open: true })).sort((a, b) =>
    a.createdAt === b.createdAt ? (a.uid < b.uid ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1,
  )
}

export async function readOfferedTasks(
  trial: TrialPorts,
  repo: Repo,
  tasks: readonly Task[],
  open: readonly Task[],
): Promise<{ offered: OfferedTask[]; others: IdleTask[] }> {
  const [offered, others]: [OfferedTask[], IdleTask[]] = [[], []]
  const places = placesOf(trial, repo, open)
  for (const task of tasks) {
    trial.signal?.throwIfAborted()
    const found = await readOfferedTask(trial, await places(task), task).catch((thrown: unknown) => {
      const error = appError(thrown)
      if (error.kind === 'cancelled') throw error
      return { task, checkout: unknown(error.message) }
    })
    if ('offer' in found) offered.push(found)
    else others.push(found)
  }
  for (const { changes } of offered) trial.expect(changes.keys())
  return { offered, others }
}

interface LandingPlace {
  readonly repo: Repo
  readonly shadow: Task | undefined
}

/** Where each task lands; all tasks that were started in one checkout land in the same. */
function placesOf(
  ports: Pick<Ports, 'store' | 'locate'>,
  repo: Repo,
  open: readonly Task[],
): (task: Task) => Promise<LandingPlace> {
  const known = new Map<string, Promise<LandingPlace>>()
  const look = async (task: Task) => {
    const target = await readLandingPlace(ports, repo, task)
    const shadow = open.find((other) => other.shadow && other.path === target.place.checkout)
    return { repo: target, shadow }
  }
  return (task) => {
    const place = known.get(task.origin) ?? look(task)
    known.set(task.origin, place)
    return place
  }
}

async function readOfferedTask(
  trial: TrialPorts,
  { repo, shadow }: LandingPlace,
  task: Task,
): Promise<OfferedTask | IdleTask> {
  const nothing = { task, checkout: meeting([], []) }
  if (task.checkpoints === 0) return nothing
  const { accept } = await settingsOf(trial, task)
  const all = await offerOf({ ports: trial, repo, task }, { withoutFailed: accept.leftovers === 'leave' })
  if ('conflicts' in all) return { task, checkout: meeting([], all.conflicts) }
  const offer = await landable(trial, repo, task, all)
  const changes = await trial.contents.compare(repo, offer.base, offer.theirs)
  if (changes.size === 0) return nothing
  const unsolved = await lookAtMarkers(trial, repo, changes, markerLook(trial, repo))
  const checkout = repo.place.checkout ?? task.origin
  const there = { ...repo, place: { ...repo.place, checkout } }
  const offered = { task, repo: there, checkout, offer, changes, unsolved }
  const isBlocked = shadow !== undefined && shadow.uid !== task.uid
  return isBlocked ? { ...offered, blocked: shadowedError(repo, shadow).message } : offered
}

/** The part that a patch lands. On a shadow branch the work begins after the files that stayed in the checkout. */
async function landable(trial: TrialPorts, repo: Repo, task: Task, offer: Offer): Promise<Offer> {
  if (task.shadow) return { ...offer, base: offer.first.tree }
  return (await patch.fit?.({ ports: trial, repo, task, offer, input: {} })) ?? offer
}

/** Looks for markers alone. */
function markerLook({ contents }: TrialPorts, repo: Repo) {
  return async ({ oid }: { readonly oid: string }) => {
    const hint = markerHint()
    const content = await contents.findContent(repo, { oid }, largestText)
    if (content) hint.take(content)
    else await contents.readPieces(repo, { oid }, hint.take)
    return { holdsSecret: false, mayHoldMarkers: hint.end() }
  }
}

const largestText = 1024 * 1024
