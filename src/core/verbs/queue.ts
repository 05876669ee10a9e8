/** The verb queue: lists the runs that wait for their turn in all repositories, and those at work. */
import type { QueuedRun } from '../model/queue.ts'
import { runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { isKept } from '../runs/keeper.ts'
import { inOrder } from '../runs/next-runs.ts'
import { readQueue } from '../runs/queue-facts.ts'

interface Place {
  readonly task: string
  readonly uid: string
  /** The git folder of its repository. */
  readonly repo: string
}

export interface Queue {
  /** A daemon runs, and starts what waits. */
  readonly kept: boolean
  /** In the order in which they would start, if all could. */
  readonly waiting: readonly (Place & QueuedRun)[]
  readonly running: readonly (Place & { readonly agent: string; readonly since?: string | undefined })[]
}

export async function queue(ports: Ports): Promise<Queue> {
  const facts = await readQueue(ports)
  const folders = new Map((await ports.repos.readAll()).map(({ id, commonDir }) => [id, commonDir]))
  const placeOf = ({ id, uid, repo }: Task): Place => ({ task: id, uid, repo: folders.get(repo) ?? '' })
  const waiting = inOrder(facts).flatMap(({ task: uid, entry }) => {
    const task = facts.tasks.get(uid)
    const run = task?.queued?.find((one) => one.entry === entry)
    return task && run ? [{ ...placeOf(task), ...run }] : []
  })
  const running = facts.atWork.flatMap(({ task: uid, agent }) => {
    const task = facts.tasks.get(uid)
    const since = task && runsOf(task).find(({ exec }) => exec === undefined)?.at
    return task ? [{ ...placeOf(task), agent, ...(since !== undefined && { since }) }] : []
  })
  return { kept: await isKept(ports), waiting, running }
}
