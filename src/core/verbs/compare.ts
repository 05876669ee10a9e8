/** The verb compare: shows several tasks side by side. */
import { AppError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'

export interface Compared {
  readonly task: Task
  /** All files that the task changed. */
  readonly files: readonly string[]
  /** The files that another of the tasks changed, too. */
  readonly shared: readonly string[]
  /** How long the runs of its agents took. */
  readonly seconds: number
}

export interface CompareInput {
  readonly dir: string
  readonly tasks: readonly string[]
  /** Also answers the diff between the first two. */
  readonly diff?: boolean | undefined
}

/** Tasks side by side. Changes nothing. */
export async function compare(
  ports: Ports,
  { dir, tasks, diff }: CompareInput,
  signal?: AbortSignal,
): Promise<{ rows: Compared[]; diff: string | undefined }> {
  if (new Set(tasks).size < 2)
    throw new AppError('wrongUsage', '`compare` takes at least two different tasks.', {
      hint: 'offshoot list shows the tasks; name two of them.',
    })
  const sides = await Promise.all(tasks.map((name) => readSide(ports, dir, name, signal)))
  const changes = sides.map(({ files }) => new Set(files))
  const rows = sides.map(({ task, files }, own) => ({
    task,
    files,
    shared: files.filter((file) => changes.some((others, other) => other !== own && others.has(file))),
    seconds: Math.round(task.usage?.seconds ?? 0),
  }))
  const [one, other] = sides
  const between =
    diff && one?.last && other?.last
      ? await ports.contents.readPatch(one.repo, one.last.tree, other.last.tree, signal)
      : undefined
  return { rows, diff: between?.toString() }
}

interface Side {
  readonly repo: Repo
  readonly task: Task
  readonly last: Step | undefined
  readonly files: readonly string[]
}

async function readSide(ports: Ports, dir: string, name: string, signal?: AbortSignal): Promise<Side> {
  const { repo, task } = await requireTask(ports, dir, name)
  const steps = await ports.steps.readSteps(repo, task)
  const [first, last] = [steps[0], steps.at(-1)]
  const pair = first && last ? await ports.steps.readFiles(repo, [first, last], signal) : []
  return { repo, task, last, files: (pair[1] ?? []).map((file) => file.path) }
}
