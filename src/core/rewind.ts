import { publishSteps, requireOpen, takeStep } from './checkpoint.ts'
import { AppError } from './errors.ts'
import { requireTask } from './list.ts'
import { requireStep } from './log.ts'
import type { Ports, Repo, Step } from './ports.ts'
import { requireWorkspace } from './recreate.ts'
import { type Task, taskLock } from './task.ts'

export interface RewindInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly to: number
  /** Also while an agent runs. */
  readonly force?: boolean | undefined
}

export interface Rewound {
  readonly task: Task
  /** The step that the rewind is. */
  readonly step: Step
  /** What was there before, when it had not been a step yet. */
  readonly kept: Step | undefined
}

/** Puts the workspace back to a step. What is there now is recorded first; history only grows. */
export async function rewind(ports: Ports, input: RewindInput, signal?: AbortSignal): Promise<Rewound> {
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  return ports.locks.hold(taskLock(repo.id, named.id), { verb: 'rewind', signal }, async () => {
    const task = requireOpen(ports, named)
    await requireWorkspace(ports, repo, task)
    if (task.pending?.verb === 'run' && !input.force) {
      throw new AppError('WT_012', `An agent is at work in ${task.id}.`, {
        hint: 'Stop it first, or use --force.',
      })
    }
    requireStep(await ports.vault.readSteps(repo, task), input.to)
    const {
      task: now,
      step,
      created,
    } = await takeStep(ports, repo, task, keepNote(input.to), undefined, signal)
    const owner = ports.processes.self()
    const at = ports.clock.now().toISOString()
    ports.store.append(task.uid, { type: 'rewind.begun', to: input.to, owner }, at)
    const done = await finishRewind(ports, repo, now, input.to)
    return { ...done, kept: created ? step : undefined }
  })
}

function keepNote(to: number) {
  return { tool: 'checkpoint', summary: `before the rewind to step ${to}` }
}

/** From wherever it stopped to the end: recovery calls this too. The present has been recorded before. */
export async function finishRewind(
  ports: Ports,
  repo: Repo,
  task: Task,
  to: number,
): Promise<{ task: Task; step: Step }> {
  const { vault, store } = ports
  const steps = await vault.readSteps(repo, task)
  const last = requireStep(steps, steps.length - 1)
  const target = requireStep(steps, to)
  // A restore that stopped half-way left some files old and some new: every one of them is written again.
  if (last.rewindTo !== to || last.tree !== target.tree) await vault.restore(repo, task, last, target)
  const note = { tool: 'rewind', summary: `to step ${to}`, rewindTo: to }
  const taken = last.rewindTo === to ? { task, step: last } : await takeStep(ports, repo, task, note)
  const done = store.append(task.uid, { type: 'rewind.done', to }, ports.clock.now().toISOString())
  return { task: await publishSteps(ports, repo, done), step: taken.step }
}
