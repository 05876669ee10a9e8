import { requireOpen } from './checkpoint.ts'
import { holdTask } from './hold.ts'
import { requireTask } from './list.ts'
import type { Ports } from './ports.ts'
import { ensureWorkspace, type Mended } from './recreate.ts'
import type { Task } from './task.ts'

/** Makes a task's workspace whole again, from its last step. */
export async function repair(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<{ task: Task; mended: Mended }> {
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  return holdTask(ports, task, { verb: 'repair', signal }, () =>
    ensureWorkspace(ports, repo, requireOpen(ports, task), signal),
  )
}
