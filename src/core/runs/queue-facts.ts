/** Reads the queue of all repositories from the records: who waits, who is at work, and whose process died. */
import { runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { settingsOf } from '../tasks/hold.ts'
import type { QueueFacts, RunLimits, Turn, Waiting } from './next-runs.ts'

export interface QueueRead extends QueueFacts {
  readonly tasks: ReadonlyMap<string, Task>
  /** The process of a run died, and nobody has ended the run yet. */
  readonly hasDead: boolean
}

/** What the daemon knows and no record tells yet. */
export interface Known {
  /** By their place in the queue: runs whose process was started and that have not begun. */
  readonly starting: ReadonlyMap<string, Turn>
  readonly served: ReadonlyMap<string, number>
}

const nothing: Known = { starting: new Map(), served: new Map() }

export async function readQueue(ports: Ports, { starting, served }: Known = nothing): Promise<QueueRead> {
  const tasks = await ports.store.readTasks({ open: true })
  const limits = limitsReader(ports)
  const atWork: Turn[] = [...starting.values()]
  const busy = new Set(atWork.map(({ task }) => task))
  const began = new Map(served)
  const waiting: Waiting[] = []
  let hasDead = false
  for (const task of tasks) {
    const at = Date.parse(task.lastRun?.startedAt ?? '')
    if (at > (began.get(task.repo) ?? 0)) began.set(task.repo, at)
    const turn = { task: task.uid, repo: task.repo }
    for (const { owner, exec, name = '' } of runsOf(task)) {
      const lives = await ports.isAlive(owner)
      if (!lives) hasDead = true
      // A command of the user's own takes no turn. One that has just begun is counted as starting still.
      if (exec !== undefined) continue
      if (lives && !busy.has(task.uid)) atWork.push({ ...turn, agent: name })
      busy.add(task.uid)
    }
    for (const run of task.queued ?? [])
      if (!starting.has(run.entry)) waiting.push({ ...run, ...turn, limits: await limits(task) })
  }
  const byUid = new Map(tasks.map((task) => [task.uid, task]))
  return { waiting, atWork, busy, served: began, now: ports.clock.now().getTime(), tasks: byUid, hasDead }
}

/** Reads the settings of each checkout once. */
function limitsReader(ports: Ports): (task: Task) => Promise<RunLimits> {
  const read = new Map<string, Promise<RunLimits>>()
  return (task) => {
    const found = read.get(task.origin) ?? settingsOf(ports, task).then(({ limits }) => limits)
    read.set(task.origin, found)
    return found
  }
}
