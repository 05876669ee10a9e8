/** The verb log: shows the steps of a task. */
import type { Step, StepFile } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { findMeant } from '../tasks/find.ts'

export interface LoggedStep extends Step {
  readonly files: readonly StepFile[]
  /** The id in the user's repository, when the step was published. */
  readonly published: string | undefined
}

/** The steps of a task, oldest first, without step 0. */
export async function log(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<{ task: Task; steps: LoggedStep[] }> {
  const { repo, task } = await findMeant(ports, input.dir, input.task)
  const steps = await ports.steps.readSteps(repo, task)
  const files = await ports.steps.readFiles(repo, steps, signal)
  const published = await ports.publishing.readPublished(repo, task)
  const logged = steps.map((step) => ({
    ...step,
    files: files[step.n] ?? [],
    published: published.get(step.n),
  }))
  return { task, steps: logged.slice(1) }
}
