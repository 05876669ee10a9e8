import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { requireStep } from '../steps/history.ts'
import { takeStep } from '../steps/take.ts'
import { requireTask } from '../tasks/find.ts'
import { requireIdle, requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { requireWorkspace } from '../workspaces/recreate.ts'

export interface RewindInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly to: number
  /** Although a run is active. */
  readonly force?: boolean | undefined
}

export interface Rewound {
  readonly task: Task
  readonly step: Step
  /** What was there before, when it had not been a step yet. */
  readonly kept: Step | undefined
  /** Its id in the user's repository. */
  readonly published: string | undefined
  readonly operation: string
}

/** Puts the workspace back to a step. What is there now is recorded first; history only grows. */
export async function rewind(ports: Ports, input: RewindInput, signal?: AbortSignal): Promise<Rewound> {
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  return holdTask(ports, named, { verb: 'rewind', signal }, async () => {
    const task = await requireOpen(ports, named)
    await requireWorkspace({ ports, repo, task })
    if (!input.force) requireIdle(task, ' Or use --force.')
    const { tree } = requireStep(await ports.steps.readSteps(repo, task), input.to)
    const kept = { tool: 'checkpoint', summary: `before the rewind to step ${input.to}` }
    const { task: current, step, created } = await takeStep({ ports, repo, task, signal }, kept)
    const note = { tool: 'rewind', summary: `to step ${input.to}`, rewindTo: input.to }
    const operation = newOperation({ ports, task }, 'rewind', { step: { before: step.n, tree, note } })
    const done = await perform({ ports, repo, task: current }, operation)
    const rewound = requireStep(await ports.steps.readSteps(repo, task), done.checkpoints)
    const published = (await ports.publishing.readPublished(repo, task)).get(rewound.n)
    return { task: done, step: rewound, kept: created ? step : undefined, published, operation: operation.id }
  })
}
