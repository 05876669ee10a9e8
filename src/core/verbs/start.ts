/** The verb start: makes a task with its branch and workspace. */
import type { Watch } from '../base/watch.ts'
import type { Ports } from '../ports/index.ts'
import { type Started, type StartInput, startTask } from '../starting/start-task.ts'

/** Makes the task, its branch and its workspace; or answers the open task of that id. */
export async function start(
  ports: Ports,
  input: StartInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Started> {
  return startTask(ports, input, signal, watch)
}
