import { AppError } from './errors.ts'
import { findMeant } from './list.ts'
import type { DiffOptions, DiffStat, Ports, Step, StepFile } from './ports.ts'
import type { Task } from './task.ts'

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

export interface DiffInput {
  readonly dir: string
  readonly task?: string | undefined
  /** `3`: what step 3 changed; `2..5`: from after step 2 to after step 5; left out: the whole task. */
  readonly step?: string | undefined
  readonly format?: DiffOptions['format'] | undefined
  readonly color?: boolean | undefined
}

export interface Diff {
  readonly task: Task
  readonly from: number
  readonly to: number
  readonly total: DiffStat
  readonly files: readonly StepFile[]
  readonly text: Buffer
}

/** What the task, a step or a range of steps changed. */
export async function diff(ports: Ports, input: DiffInput, signal?: AbortSignal): Promise<Diff> {
  const { repo, task } = await findMeant(ports, input.dir, input.task)
  const steps = await ports.vault.readSteps(repo, task)
  const [from, to] = stepRange(input.step, steps.length - 1)
  const [before, after] = [requireStep(steps, from), requireStep(steps, to)]
  const options = { format: input.format ?? 'patch', color: input.color }
  const [total, files, text] = await Promise.all([
    ports.vault.readStat(repo, before, after, signal),
    ports.vault.readFiles(repo, [before, after], signal),
    ports.vault.readDiff(repo, before, after, options, signal),
  ])
  return { task, from, to, total, files: files[1] ?? [], text }
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
