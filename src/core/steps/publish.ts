/** Publishes steps: makes them commits on the task's branch (docs/adr/0009-publish-by-pack.md). */
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { appError } from '../model/errors.ts'
import { runsOf, type Task } from '../model/task.ts'
import { settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'

/**
 * Brings the steps onto the task's branch in the user's repository. If the repository refuses them (the agent holds a lock,
 * deleted objects or broke the config), the vault still has the steps: the log gets the reason, the next call tries again.
 */
export async function publishSteps({ ports, repo, task, signal }: Work, atRunEnd = false): Promise<Task> {
  const { publish } = (await settingsOf(ports, task)).checkpoints
  // The work of an agent does not wait for a server that the user runs beside it.
  const isUnderWay = runsOf(task).some(({ exec }) => !atRunEnd || exec === undefined)
  if (publish === 'never' || (publish === 'runEnd' && isUnderWay)) return task
  const owner = ports.processes.self()
  await append(ports, task.uid, { type: 'publish.begun', owner }, now(ports))
  try {
    const { branch, tip, leftOut } = await ports.publishing.publish(repo, task, signal)
    return await append(ports, task.uid, { type: 'publish.done', branch, tip, leftOut }, now(ports))
  } catch (thrown) {
    const error = appError(thrown)
    const undone = await append(
      ports,
      task.uid,
      { type: 'publish.undone', reason: error.message },
      now(ports),
    )
    if (error.kind === 'cancelled' || error.problem === 'diskFull') throw error
    return undone
  }
}
