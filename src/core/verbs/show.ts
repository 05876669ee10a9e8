/** The verb show: shows one task, with the state of its workspace and branch. */
import { landedState } from '../landing/landed.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { findMeant } from '../tasks/find.ts'
import { asSeen } from '../tasks/liveness.ts'

export interface Shown {
  readonly task: Task
  /** Whether the workspace holds anything uncommitted; null when there is none. */
  readonly dirty: boolean | null
  /** Whether its work is in the base branch by now. */
  readonly landed: boolean | null
}

/** One task, with a look at its workspace and its branch. */
export async function show(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<Shown> {
  const { repo, task: meant } = await findMeant(ports, input.dir, input.task)
  const task = await asSeen(ports, meant)
  const there = isOpen(task) && (await ports.files.readKind(task.path)) === 'folder'
  const { landed } = await landedState({ ports, repo, task, signal })
  if (!there) return { task, dirty: null, landed }
  const dirt = await ports.steps.readDirt(repo, task, signal)
  const head = await ports.refs.findRef(repo.place, `refs/heads/${task.branch}`, signal)
  return {
    task: { ...task, head: head ?? task.head },
    dirty: dirt.length > 0,
    landed,
  }
}
