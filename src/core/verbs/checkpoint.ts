/** The verb checkpoint: takes a step of the workspace. */
import type { Watch } from '../base/watch.ts'
import type { Snapshot } from '../model/step.ts'
import { runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { publishSteps } from '../steps/publish.ts'
import { takeStep } from '../steps/take.ts'
import { withTask } from '../steps/with-task.ts'

export interface CheckpointInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly tool?: string | undefined
  readonly summary?: string | undefined
  readonly run?: string | undefined
  readonly call?: string | undefined
  /** The files that the tool wrote; without it the whole workspace is checked. */
  readonly files?: readonly string[] | undefined
  /** Also answers the ignored files, which takes another scan of the workspace. */
  readonly ignored?: boolean | undefined
}

export interface Checkpointed extends Snapshot {
  readonly task: Task
  /** The step's commit in the user's repository, if it was published. */
  readonly published: string | undefined
  /** The ignored files, if asked for. */
  readonly ignored: string[]
}

/** Takes a step, unless nothing has changed. */
export function checkpoint(
  ports: Ports,
  input: CheckpointInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Checkpointed> {
  const { dir, task: name, tool = 'checkpoint', summary = '', call } = input
  // An agent may be at work: each of its tool calls ends with a checkpoint.
  const needs = { state: 'open', checks: ['workspace'] } as const
  return withTask(
    ports,
    { dir, task: name, verb: 'checkpoint', needs },
    async (work) => {
      const { repo, task } = work
      // What changes during a run counts as the agent's, whoever asks for the step.
      const run = input.run ?? runsOf(task).find(({ exec }) => exec === undefined)?.run
      const taken = await takeStep(work, { tool, summary, run, call }, input.files)
      if (taken.created) watch?.settle('checkpoint')
      const published = await publishSteps({ ...work, task: taken.task })
      const commits = await ports.publishing.readPublished(repo, task)
      const ignored = input.ignored ? await ports.steps.readIgnored(repo, task, signal) : []
      return { ...taken, task: published, published: commits.get(taken.step.n), ignored }
    },
    signal,
    watch,
  )
}
