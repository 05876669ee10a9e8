/** The verb log: shows the steps of a task. */
import type { Step, StepFile } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Transcript } from '../model/transcript.ts'
import type { Ports } from '../ports/index.ts'
import { readTranscripts } from '../runs/transcript.ts'
import { requireTask } from '../tasks/find.ts'

export interface LoggedStep extends Step {
  readonly files: readonly StepFile[]
  /** The id in the user's repository, when the step was published. */
  readonly published: string | undefined
}

/** The steps of a task, oldest first, without step 0; if asked for, also what its agents said. */
export async function log(
  ports: Ports,
  input: { dir: string; task?: string | undefined; agent?: boolean | undefined },
  signal?: AbortSignal,
): Promise<{ task: Task; steps: LoggedStep[]; runs: Transcript[] | undefined }> {
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  const steps = await ports.steps.readSteps(repo, task)
  const files = await ports.steps.readFiles(repo, steps, signal)
  const published = await ports.publishing.readPublished(repo, task)
  const logged = steps.map((step) => ({
    ...step,
    files: files[step.n] ?? [],
    published: published.get(step.n),
  }))
  const runs = input.agent ? await readTranscripts(ports, repo, task) : undefined
  return { task, steps: logged.slice(1), runs }
}
