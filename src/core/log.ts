import { AppError } from './model/errors.ts'
import { findMeant } from './tasks/find.ts'
import type { Ports } from './ports/index.ts'
import type { Step, StepFile } from './model/step.ts'
import type { Task } from './model/task.ts'

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
  const steps = await ports.vault.readSteps(repo, task)
  const files = await ports.vault.readFiles(repo, steps, signal)
  const published = await ports.vault.readPublished(repo, task)
  const logged = steps.map((step) => ({
    ...step,
    files: files[step.n] ?? [],
    published: published.get(step.n),
  }))
  return { task, steps: logged.slice(1) }
}

export function stepRange(text: string | undefined, last: number): [from: number, to: number] {
  if (text === undefined) return [0, Math.max(0, last)]
  const [, single, from, to] = /^(?:(\d+)|(\d+)\.\.(\d+))$/.exec(text) ?? []
  if (single !== undefined && Number(single) > 0) return [Number(single) - 1, Number(single)]
  if (from !== undefined && to !== undefined) return [Number(from), Number(to)]
  throw new AppError('WT_019', `${JSON.stringify(text)} is no step and no range of steps.`, {
    hint: 'Write --step 3, or --step 2..5.',
  })
}

export function requireStep(steps: readonly Step[], n: number): Step {
  const step = steps[n]
  if (step) return step
  throw new AppError('WT_005', `There is no step ${n}; the last one is ${Math.max(0, steps.length - 1)}.`, {
    hint: 'offshoot log shows the steps.',
  })
}
