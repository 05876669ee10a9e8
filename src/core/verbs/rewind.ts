/** The verb rewind: puts the workspace back to an older step. */
import type { Watch } from '../base/watch.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { requireStep } from '../steps/history.ts'
import { takeStep } from '../steps/take.ts'
import { type Needs, withTask } from '../steps/with-task.ts'
import { requireIdle } from '../tasks/guards.ts'
import type { Work } from '../tasks/work.ts'

export interface RewindInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly to: number
  /** Rewinds even during a run. */
  readonly force?: boolean | undefined
}

export interface Rewound {
  readonly task: Task
  readonly step: Step
  /** The step of the files before the rewind, if they were not a step yet. */
  readonly kept: Step | undefined
  /** The commit of `step` in the user's repository. */
  readonly published: string | undefined
  readonly operation: string
}

/** Takes a step of the present files first; the rewind itself is a new step, so no history is lost. */
export function rewind(
  ports: Ports,
  input: RewindInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Rewound> {
  const needs: Needs = {
    state: 'open',
    checks: ['workspace', ...(input.force ? [] : [requireIdleOrForce])],
  }
  const { dir, task, to } = input
  return withTask(ports, { dir, task, verb: 'rewind', needs }, (work) => putBackTo(work, to), signal, watch)
}

const requireIdleOrForce = ({ task }: Work) => requireIdle(task, ' Or use --force.')

/** Not until the step is known to exist is one taken of the present files. The caller holds the task's lock. */
async function putBackTo(work: Work, to: number): Promise<Rewound> {
  const { ports, repo, task } = work
  const { tree } = requireStep(task, await ports.steps.readSteps(repo, task), to)
  const kept = { tool: 'checkpoint', summary: `before the rewind to step ${to}` }
  const { task: current, step, created } = await takeStep(work, kept)
  const note = { tool: 'rewind', summary: `to step ${to}`, rewindTo: to }
  const operation = newOperation(work, 'rewind', { step: { before: step.n, tree, note } })
  const { task: done } = await perform({ ...work, task: current }, operation)
  const rewound = requireStep(task, await ports.steps.readSteps(repo, task), done.checkpoints)
  const published = (await ports.publishing.readPublished(repo, task)).get(rewound.n)
  return { task: done, step: rewound, kept: created ? step : undefined, published, operation: operation.id }
}
