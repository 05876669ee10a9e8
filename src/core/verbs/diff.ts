/** The verb diff: shows the changes of a task, a step or a range of steps. */
import { allEnded } from '../base/concurrency.ts'
import { landedBase, readHunks } from '../landing/offer.ts'
import type { CountedFile, DiffOptions, DiffStat, StepFile } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { basisOf, requireStep, stepRange } from '../steps/history.ts'
import type { Hunk } from '../steps/hunks.ts'
import { findPresent } from '../steps/present.ts'
import { requireTask } from '../tasks/find.ts'

export interface DiffInput {
  readonly dir: string
  readonly task?: string | undefined
  /** `3`: what step 3 changed; `2..5`: from after step 2 to after step 5; left out: the whole task. */
  readonly step?: string | undefined
  readonly format?: DiffOptions['format'] | undefined
  readonly binary?: boolean | undefined
  readonly color?: boolean | undefined
  /** Also the hunks that are left to land. */
  readonly hunks?: boolean | undefined
}

export interface Diff {
  readonly task: Task
  readonly from: number
  readonly to: number
  readonly total: DiffStat
  readonly files: readonly CountedFile[]
  /** The files of the workspace that no step holds as they are now; the diff has them. Undefined when nobody looked. */
  readonly noStep: readonly StepFile[] | undefined
  /** Why the workspace could not be looked at. */
  readonly unread: string | undefined
  /** The hunks that have not landed; undefined when not asked for, or when the task must be updated first. */
  readonly hunks: readonly Hunk[] | undefined
  readonly text: Buffer
}

/** The diff as text, with its steps. Of a whole task it also has what is no step yet, since an accept would land that too. */
export async function diff(ports: Ports, input: DiffInput, signal?: AbortSignal): Promise<Diff> {
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  const found = input.step === undefined ? await findPresent({ ports, repo, task, signal }) : undefined
  const present = found && 'tree' in found ? found : undefined
  const all = await ports.steps.readSteps(repo, task)
  // A step that was taken since belongs to a later present.
  const steps = present ? all.slice(0, present.step.n + 1) : all
  const [from, to] = stepRange(input.step, steps.length - 1)
  // The later one first: for `--step 9` an error must name 9, not the step before it.
  const [last, before] = [requireStep(task, steps, to), requireStep(task, steps, from)]
  const after = present ?? last
  const options = { format: input.format ?? 'patch', binary: input.binary, color: input.color }
  const [files, text] = await allEnded([
    ports.steps.readCounts(repo, before, after, signal),
    ports.steps.readDiff(repo, before, after, options, signal),
  ])
  const sum = (side: 'insertions' | 'deletions') => files.reduce((all, file) => all + (file[side] ?? 0), 0)
  const total = { files: files.length, insertions: sum('insertions'), deletions: sum('deletions') }
  const base = landedBase(task, basisOf(steps))
  const isCut = input.hunks && input.step === undefined
  const cut = isCut ? await readHunks(ports, repo, base, after.tree, signal) : undefined
  const hunks = cut?.flatMap((file) => file.parts.map(({ hunk }) => hunk))
  const unread = found && 'why' in found ? found.why : undefined
  return { task, from, to, total, files, noStep: present?.files, unread, hunks, text }
}
