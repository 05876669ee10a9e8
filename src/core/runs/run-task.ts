/** The task that a run works in: the one that is named, the one with the conversation, or a new one. */
import type { Watch } from '../base/watch.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError, appError } from '../model/errors.ts'
import { commandLine } from '../model/redact.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { startTask } from '../starting/start-task.ts'
import { requireTask } from '../tasks/find.ts'
import { findRepo } from '../tasks/repo.ts'
import type { RunInput } from './run-input.ts'

export interface RunTask {
  readonly repo: Repo
  readonly task: Task
}

/** The named task, or the one that has the conversation to resume. */
export async function requireResumed(ports: Ports, { dir, task: name, resume }: RunInput): Promise<RunTask> {
  if (name !== undefined) return requireTask(ports, dir, name)
  const here = await requireTask(ports, dir, undefined).catch(() => undefined)
  if (here && resume === true) return here
  const { repo } = await findRepo(ports, dir)
  const fits = ({ conversation }: Task) =>
    conversation !== undefined && (resume === true || conversation.id === resume)
  const [task] = (await ports.store.readTasks({ repo: repo?.id ?? '', open: true }))
    .filter(fits)
    .toSorted((one, other) => other.lastActiveAt.localeCompare(one.lastActiveAt))
  if (repo && task) return { repo, task }
  throw new AppError('noSuchTask', 'No open task has that conversation.', {
    hint: 'Name the task: --task TASK',
  })
}

/** The named task; it is started if there is none and the input says so. `onOutput` hears the hook of a new task. */
export async function requireStarted(
  ports: Ports,
  input: RunInput,
  onOutput: CommandCall['onOutput'] | undefined,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<RunTask> {
  if (!input.create) return requireTask(ports, input.dir, input.task)
  const title =
    input.task === undefined ? ((input.argv && commandLine(input.argv)) ?? input.prompt) : undefined
  const { dir, base, from, branch, isolation } = input
  const heard = onOutput && { onOutput }
  const asked = { dir, task: input.task, title, base, from, branch, isolation, ...heard }
  return startTask(ports, asked, signal, watch).catch((thrown: unknown) => {
    throw beforeRun(appError(thrown))
  })
}

/** Marks an error as one before the run, so that the caller can free space and try again. */
function beforeRun(error: AppError): AppError {
  if (error.problem !== 'diskFull') return error
  const { problem, message, hint, path: where, cause } = error
  return new AppError(problem, message, { hint, path: where, cause, data: { ...error.data, started: false } })
}
