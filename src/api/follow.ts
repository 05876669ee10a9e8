/** Hands out the events of the log, and the tasks as of one of them, to the callers who may read the audit log. */
import path from 'node:path'
import { actions } from '../actions/index.ts'
import { AppError } from '../core/model/errors.ts'
import type { TaskEvent } from '../core/model/events.ts'
import { taskView, type TaskView } from '../core/model/task-view.ts'
import type { Ports } from '../core/ports/index.ts'
import {
  type Feed,
  type Filter,
  type Followed,
  type FollowInput,
  follow,
  nameLog,
  openFeed,
  openFilter,
} from '../core/tasks/follow.ts'
import { type Forecasts, keepForecasts } from '../core/landing/keep-forecasts.ts'
import { openOutput, type OutputFeed } from '../core/runs/live-output.ts'
import { asListed } from '../core/tasks/liveness.ts'
import type { KnownRepo } from '../core/verbs/repos.ts'
import { type Caller, requireScope, requireUser } from './caller.ts'

export type { Forecasts } from '../core/landing/keep-forecasts.ts'
export type { Feed, LogEnd } from '../core/tasks/follow.ts'

/** One event of the log. A reader that asks again with its `seq` misses none and gets none twice. */
export interface FollowedEvent {
  readonly seq: number
  readonly at: string
  /** The id of the task, and the uid, which no other task ever has. */
  readonly task: string
  readonly uid: string
  /** The id of the repository, as `repos` lists it. */
  readonly repo: string
  readonly event: TaskEvent
}

export function eventView({ stored: { seq, at, uid, event }, task, repo }: Followed): FollowedEvent {
  return { seq, at, task, uid, repo, event }
}

/** The log is what `audit` shows, so the rights are those of `audit`. */
const action = 'system.audit'

async function requireFollower(ports: Ports, caller: Caller): Promise<void> {
  requireScope(caller, actions[action])
  await requireUser(ports, caller, action, {})
}

/** How often a library, and a daemon with subscribers, looks for events of other processes. */
const pollMs = { library: 100, daemon: 25 }

export function openFollow(ports: Ports, readCaller: () => Caller) {
  const feed = openFeed(ports, pollMs.library)
  return async function* (input: FollowInput): AsyncGenerator<FollowedEvent, void> {
    await requireFollower(ports, readCaller())
    for await (const followed of follow(ports, feed, input)) yield eventView(followed)
  }
}

/** One reader of the log, one of what agents at work say, and one maker of forecasts, for all clients of a daemon. */
export interface Feeds {
  readonly feed: Feed
  readonly output: OutputFeed
  readonly forecasts: Forecasts
}

/** `unforeseen` is called when a forecast could not be made. */
export function openFeeds(ports: Ports, unforeseen: (thrown: unknown) => void): Feeds {
  const feed = openFeed(ports, pollMs.daemon)
  return { feed, output: openOutput(ports, feed), forecasts: keepForecasts(ports, feed, unforeseen) }
}

/** What a subscriber wants: repositories by a folder or an id, tasks by an id or a uid. Left out, all. */
export interface Subscribed {
  readonly repos?: readonly string[] | undefined
  readonly tasks?: readonly string[] | undefined
}

/** The tasks as of an entry of the log: who follows the log from there misses no change of theirs. */
interface Snapshot {
  readonly seq: number
  readonly log: string
  readonly repos: readonly KnownRepo[]
  /** The open tasks, newest first. */
  readonly tasks: readonly TaskView[]
}

export interface Subscription {
  readonly filter: Filter
  readSnapshot(): Promise<Snapshot>
}

/** Throws `policyRefused` for a caller who may not follow, `notFound` for an unknown repository. */
export async function openSubscription(
  ports: Ports,
  feed: Feed,
  caller: Caller,
  { repos, tasks }: Subscribed,
): Promise<Subscription> {
  await requireFollower(ports, caller)
  const ids = repos?.filter((one) => !path.isAbsolute(one))
  for (const id of ids ?? [])
    if (!(await ports.repos.findById(id)))
      throw new AppError('notFound', `offshoot knows no repository ${JSON.stringify(id)}.`, {
        hint: 'system.repos lists the ids; a repository can also be named by the absolute path of a folder in it.',
      })
  await nameLog(ports)
  const filter = await openFilter(ports, { dirs: repos?.filter(path.isAbsolute), repos: ids, tasks })
  return {
    filter,
    async readSnapshot() {
      await nameLog(ports)
      // Before the tasks: what happens in between is in the tasks and comes as an event again, instead of in neither.
      const end = await feed.readEnd()
      await filter.ready()
      const found = await ports.store.readTasks({ open: true })
      const shown = await asListed(
        ports,
        found.filter(({ uid, id, repo }) => filter.fits({ uid, task: id, repo })),
      )
      const { repos: list } = await import('../core/verbs/repos.ts')
      const known = (await list(ports)).filter(({ id }) => filter.fitsRepo(id))
      return { ...end, repos: known, tasks: shown.map((task) => taskView(task)) }
    },
  }
}
