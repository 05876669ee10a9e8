/** The forecasts that verbs ask for, and the one that is kept for `list`. */
import { forecastFiles, vaultFolder } from '../model/layout.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { Forecast, PairForecast, TaskForecast } from './forecast.ts'
import { findForecast, forecastText } from './forecast-file.ts'
import { keepFile, type MadeForecast, makeForecast, type MakeOptions } from './make-forecast.ts'

/** Makes the forecast anew, and keeps it. */
export async function refreshForecast(
  ports: Ports,
  repo: Repo,
  options: Pick<MakeOptions, 'since' | 'signal'> = {},
): Promise<MadeForecast> {
  const file = forecastFiles(vaultFolder(ports.home, repo.name)).forecast
  const made = await makeForecast(ports, repo, options)
  const isAbout = made.forecast.tasks.some(({ step }) => step > 0)
  // A repository in which nothing was ever forecast needs no file that says so.
  if (isAbout || findForecast(await ports.files.readText(file)))
    await keepFile(ports.files, file, forecastText(made.forecast))
  return made
}

/** The forecast if these tasks land first, in that order. It is not kept. */
export async function forecastAfter(
  ports: Ports,
  repo: Repo,
  after: readonly Task[],
  signal?: AbortSignal,
): Promise<Forecast> {
  return (await makeForecast(ports, repo, { after, signal })).forecast
}

/** The forecast of one task alone: itself, and its pairs. */
export async function forecastTask(
  ports: Ports,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<{ task: TaskForecast | undefined; pairs: readonly PairForecast[] }> {
  const { tasks, pairs } = (await makeForecast(ports, repo, { only: task, signal })).forecast
  return {
    task: tasks.find(({ uid }) => uid === task.uid),
    pairs: pairs.filter(({ first, second }) => first === task.id || second === task.id),
  }
}
