/** Turns results and events of the core into the shapes that doors show. */
import { differenceOf, type Forecast, type TaskForecast } from '../core/landing/forecast.ts'
import type { Risk } from '../core/landing/risk.ts'
import type { Watcher } from '../core/base/watch.ts'
import { failedTool, type Step, type StepFile } from '../core/model/step.ts'
import type { Submodules } from '../core/model/git.ts'
import type { Onlooker } from '../core/runs/loop.ts'
import { taskView } from '../core/model/task-view.ts'
import type { Said, Told } from '../protocol/events.ts'
import type { Output } from '../protocol/schemas/index.ts'

/** Receives the events of a long verb. Its return value for the events `asked` and `risky` is the person's answer. */
export type Emit = (event: Told) => unknown

/** Turns the output of a command into events. */
export function outputTo(emit: Emit | undefined) {
  return emit && ((stream: 'stdout' | 'stderr', text: string) => void emit({ event: 'output', stream, text }))
}

/** Asks whether to land something that has a risk. A door without a person behind it does not answer, which lands it. */
export function riskTo(emit: Emit | undefined) {
  return emit && (async (risks: readonly Risk[]) => (await emit({ event: 'risky', risks })) !== 'deny')
}

/** Turns what a verb tells of itself into events. */
export function watcherOf(emit: Emit | undefined): Watcher {
  if (!emit) return {}
  return {
    onProgress: (progress) => void emit({ event: 'progress', ...progress }),
    onLate: (verb) => void emit({ event: 'finishing', verb }),
  }
}

/** Turns what happens in a run into events. A door with a person behind it answers `asked`. */
export function onlooker(emit: Emit): Onlooker {
  return {
    tell(told) {
      if (told.event === 'checkpoint')
        return void emit({ event: told.event, checkpoint: stepView(told.taken.step, told.taken.files) })
      if (told.event === 'started') return void emit({ ...told, task: taskView(told.task) })
      emit({ ...told })
    },
    ask(call, reason) {
      const said = emit({ event: 'asked', ...call, reason })
      return said === undefined ? undefined : Promise.resolve(said).then(saidOf)
    },
  }
}

const answers: ReadonlySet<unknown> = new Set<Said>(['once', 'always', 'deny'])

const saidOf = (said: unknown) => (answers.has(said) ? (said as Said) : undefined)

export function stepView(step: Step, files: readonly StepFile[], published?: string) {
  const { n, commit, tool, summary, at, run, call, rewindTo, skipped } = step
  const failed = failedTool(step)
  const { calls = call === undefined ? [] : [{ id: call, tool, summary }] } = step
  return {
    n,
    commit,
    ...(published !== undefined && { published }),
    tool,
    summary,
    files,
    at,
    run,
    call,
    calls,
    rewindTo,
    ...(failed !== undefined && { failed }),
    skipped,
  }
}

/** A forecast without its internal fields. */
export function forecastView({ after, tasks, ...forecast }: Forecast): Output<'task.forecast'> {
  return { ...forecast, after: after.map(taskForecastView), tasks: tasks.map(taskForecastView) }
}

/** What a client that knows `before` has to be told; undefined when nothing is different. */
export function forecastChange(before: Forecast | undefined, now: Forecast) {
  const { tasks, ...difference } = differenceOf(before, now)
  const isEmpty = [tasks, difference.pairs, difference.gone].every(({ length }) => length === 0)
  if (before && isEmpty && !difference.order) return undefined
  const { at, checkout } = now
  return { whole: before === undefined, at, checkout, tasks: tasks.map(taskForecastView), ...difference }
}

export function taskForecastView(forecast: TaskForecast) {
  const { task, step, files, branch, target, checkout } = forecast
  return { task, step, files, branch, target, checkout }
}

/** Left out where the workspace has no submodules. */
export function submodulesView(found: Submodules | undefined): Pick<Output<'task.start'>, 'submodules'> {
  if (!found || found.filled.length + found.empty.length === 0) return {}
  return { submodules: found }
}
