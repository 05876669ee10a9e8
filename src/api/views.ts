/** What the verbs answer, and what happens meanwhile, as the outside sees it. */
import type { OnProgress } from '../core/model/progress.ts'
import type { Step, StepFile } from '../core/model/step.ts'
import type { Submodules } from '../core/model/git.ts'
import type { Onlooker } from '../core/runs/loop.ts'
import { taskView } from '../core/model/task-view.ts'
import type { Said, Told } from '../protocol/events.ts'
import type { Output } from '../protocol/schemas/index.ts'

/** Takes what happens while a long verb is under way. What it answers to a question is what a person says. */
export type Emit = (event: Told) => unknown

/** What a command says, as events. */
export function outputTo(emit: Emit | undefined) {
  return emit && ((stream: 'stdout' | 'stderr', text: string) => void emit({ event: 'output', stream, text }))
}

export function progressTo(emit: Emit | undefined): OnProgress | undefined {
  return emit && ((progress) => void emit({ event: 'progress', ...progress }))
}

/** A run as lines that a program can read; a door with a person behind it answers `asked`. */
export function onlooker(emit: Emit): Onlooker {
  return {
    tell(told) {
      if (told.event === 'checkpoint')
        return void emit({ event: told.event, checkpoint: stepView(told.taken.step, told.taken.files) })
      if (told.event === 'started') return void emit({ ...told, task: taskView(told.task) })
      emit({ ...told })
    },
    async ask(call, reason) {
      const said = await emit({ event: 'asked', ...call, reason })
      return isSaid(said) ? said : undefined
    },
  }
}

const answers: ReadonlySet<unknown> = new Set<Said>(['once', 'always', 'deny'])

function isSaid(said: unknown): said is Said {
  return answers.has(said)
}

export function stepView(step: Step, files: readonly StepFile[], published?: string) {
  const { n, commit, tool, summary, at, run, call, rewindTo, skipped } = step
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
    rewindTo,
    skipped,
  }
}

/** Said only where there are any. */
export function submodulesView(found: Submodules | undefined): Pick<Output<'task.start'>, 'submodules'> {
  if (!found || found.filled.length + found.empty.length === 0) return {}
  return { submodules: found }
}
