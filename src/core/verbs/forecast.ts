/** The verb forecast: shows which tasks conflict, with what, and in which order to land them. */
import { quoted } from '../base/shell-quote.ts'
import type { Forecast } from '../landing/forecast.ts'
import { forecastAfter, refreshForecast } from '../landing/refresh-forecast.ts'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'
import { findRepo } from '../tasks/repo.ts'

export interface ForecastInput {
  readonly dir: string
  /** Tasks that count as landed, in this order. */
  readonly after?: readonly string[] | undefined
}

/** Changes nothing but what offshoot keeps to be quicker the next time. */
export async function forecast(
  ports: Ports,
  { dir, after = [] }: ForecastInput,
  signal?: AbortSignal,
): Promise<Forecast> {
  const landing = await readNamed(ports, dir, after)
  const { repo, place } = await findRepo(ports, dir)
  if (!repo)
    return { at: now(ports), checkout: place.checkout ?? '', after: [], tasks: [], pairs: [], order: [] }
  if (landing.length > 0) return forecastAfter(ports, repo, landing, signal)
  return (await refreshForecast(ports, repo, { signal })).forecast
}

async function readNamed(ports: Ports, dir: string, names: readonly string[]): Promise<Task[]> {
  const tasks: Task[] = []
  for (const name of names) {
    const { task } = await requireTask(ports, dir, name)
    if (!isOpen(task))
      throw new AppError('wrongUsage', `${task.id} is closed: it cannot land.`, {
        hint: 'Name open tasks: offshoot list shows them.',
      })
    if (tasks.some(({ uid }) => uid === task.uid))
      throw new AppError('wrongUsage', `--after names ${task.id} twice.`, {
        hint: `Name each task once: offshoot forecast --after ${quoted(task.id)}`,
      })
    tasks.push(task)
  }
  return tasks
}
