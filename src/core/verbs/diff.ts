/** The verb diff: shows the changes of a task, a step or a range of steps. */
import { allEnded } from '../base/concurrency.ts'
import { landedBase, readHunks } from '../landing/offer.ts'
import type { DiffOptions, DiffStat, StepFile } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { basisOf, requireStep, stepRange } from '../steps/history.ts'
import type { Hunk } from '../steps/hunks.ts'
import { findMeant } from '../tasks/find.ts'

export interface DiffInput {
  readonly dir: string
  readonly task?: string | undefined
  /** `3`: what step 3 changed; `2..5`: from after step 2 to after step 5; left out: the whole task. */
  readonly step?: string | undefined
  readonly format?: DiffOptions['format'] | undefined
  readonly color?: boolean | undefined
  /** Also the hunks that are left to land. */
  readonly hunks?: boolean | undefined
}

export interface Diff {
  readonly task: Task
  readonly from: number
  readonly to: number
  readonly total: DiffStat
  readonly files: readonly StepFile[]
  /** The hunks that have not landed; undefined when not asked for, or when the task must be updated first. */
  readonly hunks: readonly Hunk[] | undefined
  readonly text: Buffer
}

/** The diff as text, with its steps. */
export async function diff(ports: Ports, input: DiffInput, signal?: AbortSignal): Promise<Diff> {
  const { repo, task } = await findMeant(ports, input.dir, input.task)
  const steps = await ports.steps.readSteps(repo, task)
  const [from, to] = stepRange(input.step, steps.length - 1)
  // The later one first: for `--step 9` an error must name 9, not the step before it.
  const [after, before] = [requireStep(steps, to), requireStep(steps, from)]
  const options = { format: input.format ?? 'patch', color: input.color }
  const [total, files, text] = await allEnded([
    ports.steps.readStat(repo, before, after, signal),
    ports.steps.readFiles(repo, [before, after], signal),
    ports.steps.readDiff(repo, before, after, options, signal),
  ])
  const base = landedBase(task, basisOf(steps))
  const isCut = input.hunks && input.step === undefined && base !== undefined
  const cut = isCut ? await readHunks(ports, repo, base, after.tree, signal) : undefined
  const hunks = cut?.flatMap((file) => file.parts.map(({ hunk }) => hunk))
  return { task, from, to, total, files: files[1] ?? [], hunks, text }
}
