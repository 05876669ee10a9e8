/** Finds steps in the list of a task's steps: by number, by range, and the one that the agent's work begins at. */
import { AppError } from '../model/errors.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'

export function stepRange(text: string | undefined, last: number): [from: number, to: number] {
  if (text === undefined) return [0, Math.max(0, last)]
  const [, single, from, to] = /^(?:(\d+)|(\d+)\.\.(\d+))$/.exec(text) ?? []
  if (single !== undefined && Number(single) > 0) return [Number(single) - 1, Number(single)]
  if (from !== undefined && to !== undefined) return [Number(from), Number(to)]
  throw new AppError('wrongUsage', `--step takes a step or a range of steps, not ${JSON.stringify(text)}.`, {
    hint: 'Write it as --step 3, or --step 2..5.',
  })
}

export function requireStep({ id }: Pick<Task, 'id'>, steps: readonly Step[], n: number): Step {
  const step = steps[n]
  if (step) return step
  throw new AppError('notFound', `There is no step ${n}; the last one is ${Math.max(0, steps.length - 1)}.`, {
    hint: `offshoot log ${id} lists the steps.`,
  })
}

/** The tool of the step that holds the user's own changes, which stay in the checkout when a shadow branch starts. */
export const stayed = 'start'

/** The step that the agent's own work begins after: with a shadow branch, the user's kept changes come before it. */
export function firstOf(task: Task, steps: readonly Step[]): Step {
  const [zero, one] = steps
  if (!zero) throw new AppError('failed', `${task.id} has no steps.`)
  return task.shadow && one?.tool === stayed ? one : zero
}

/** The tree of the target that the workspace is based on: of the last update that no rewind took back, else of step 0. */
export function basisOf(steps: readonly Step[]): string {
  return lastUpdate(steps)?.basis ?? steps[0]?.tree ?? ''
}

/** The summary of an update with the files of the checkout as they are, uncommitted changes included. */
export const fromCheckout = 'from yours'

/** Whether the workspace is based on uncommitted changes of the user, by its last update. */
export function isOnCheckout(steps: readonly Step[]): boolean {
  return lastUpdate(steps)?.summary === fromCheckout
}

function lastUpdate(steps: readonly Step[]): Step | undefined {
  for (let n = steps.length - 1; n > 0; ) {
    const step = steps[n]
    if (step?.basis !== undefined) return step
    n = step?.rewindTo ?? n - 1
  }
  return undefined
}
