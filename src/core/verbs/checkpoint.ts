/** The verb checkpoint: takes a step of the workspace. */
import type { Snapshot } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { publishSteps } from '../steps/publish.ts'
import { takeStep } from '../steps/take.ts'
import { requireTask } from '../tasks/find.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { requireWorkspace } from '../workspaces/recreate.ts'

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
  /** The id in the user's repository, when the step was published. */
  readonly published: string | undefined
  /** The ignored files, if asked for. */
  readonly ignored: string[]
}

/** Takes a step, unless nothing has changed. */
export async function checkpoint(
  ports: Ports,
  input: CheckpointInput,
  signal?: AbortSignal,
): Promise<Checkpointed> {
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  const note = {
    tool: input.tool ?? 'checkpoint',
    summary: input.summary ?? '',
    run: input.run,
    call: input.call,
  }
  return holdTask(ports, named, { verb: 'checkpoint', signal }, async () => {
    const task = await requireOpen(ports, named)
    await requireWorkspace({ ports, repo, task })
    const taken = await takeStep({ ports, repo, task, signal }, note, input.files)
    const published = await publishSteps({ ports, repo, task: taken.task, signal })
    const commits = await ports.publishing.readPublished(repo, task)
    const ignored = input.ignored ? await ports.steps.readIgnored(repo, task, signal) : []
    return { ...taken, task: published, published: commits.get(taken.step.n), ignored }
  })
}
