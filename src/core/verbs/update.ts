/** The verb update: merges the target branch into the workspace, so that conflicts are solved there before an accept. */
import { ontoHint } from '../landing/options.ts'
import { AppError, conflictError } from '../model/errors.ts'
import { branchRef } from '../model/refs.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Conflict } from '../model/tree.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { basisOf, fromCheckout } from '../steps/history.ts'
import { type Needs, withTask } from '../steps/with-task.ts'
import { following, type Watch } from '../base/watch.ts'
import type { Work } from '../tasks/work.ts'
import { rawTree } from '../workspaces/raw-tree.ts'
import { requireBaseCommit } from '../workspaces/recreate.ts'

export interface UpdateInput {
  readonly dir: string
  readonly task?: string | undefined
  /** The branch to merge; by default the one that the task was started from. */
  readonly onto?: string | undefined
  /** Merges the files of the checkout as they are, instead of a branch. */
  readonly dirty?: boolean | undefined
  readonly conflicts?: 'fail' | 'markers' | undefined
}

export interface Updated {
  readonly task: Task
  /** Undefined when there was nothing new. */
  readonly step: Step | undefined
  readonly conflicts: readonly Conflict[]
  /** The operation that undo takes back; undefined when there was nothing new. */
  readonly operation: string | undefined
}

/** Brings the target into the workspace, so that conflicts are solved there, before an accept. */
export function update(
  ports: Ports,
  input: UpdateInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Updated> {
  const needs: Needs = {
    state: 'open',
    checks: [({ task }) => requireOtherCheckout(task, input), 'workspace', 'idle'],
    step: 'before the update',
  }
  const { dir, task } = input
  return withTask(ports, { dir, task, verb: 'update', needs }, (work) => bringIn(work, input), signal, watch)
}

/** In a checkout of the user's the task's work is what --dirty would bring in. */
function requireOtherCheckout({ id, shadow }: Task, { dirty }: UpdateInput): void {
  if (!dirty || !shadow) return
  throw new AppError(
    'wrongUsage',
    `${id} works in your checkout, so --dirty would merge its work with itself.`,
    {
      hint: `Merge a branch instead: offshoot update ${id}`,
    },
  )
}

/** The tree of the target with the bytes of a checkout. */
async function bringIn(work: Work, input: UpdateInput): Promise<Updated> {
  const { ports, repo, task, signal } = work
  const steps = await ports.steps.readSteps(repo, task)
  const last = steps.at(-1) ?? (await ports.seeding.seed(repo, task))
  const base = basisOf(steps)
  const theirs = await targetTree(work, steps[0] ?? last, input)
  const label = input.dirty ? 'yours' : (input.onto ?? task.base.branch ?? 'target')
  const sides = { base, ours: last.tree, theirs, labels: [task.id, label] as const }
  const merged = await ports.contents.merge(repo, sides, signal)
  if (merged.conflicts.length > 0 && input.conflicts !== 'markers')
    throw conflictError(
      merged.conflicts,
      'Repeat with --conflicts markers, which writes the conflicts into the workspace, to resolve them there.',
    )
  if (theirs === base) return { task, step: undefined, conflicts: [], operation: undefined }
  const note = { tool: 'update', summary: input.dirty ? fromCheckout : `from ${label}`, basis: theirs }
  const operation = newOperation(work, 'update', { step: { before: last.n, tree: merged.tree, note } })
  const { task: done } = await perform(work, operation)
  // The workspace has the merged files, under the names that they have there.
  const conflicts = merged.conflicts.map(({ path, kind }) => ({
    path: merged.aside?.get(path) ?? path,
    kind,
  }))
  return { task: done, step: await ports.steps.findTip(repo, task), conflicts, operation: operation.id }
}

/** The target's files as they would lie in a checkout. */
async function targetTree(work: Work, first: Step, input: UpdateInput): Promise<string> {
  const { ports, repo, task, signal } = work
  const { contents, refs } = ports
  if (input.dirty) {
    const target = await ports.locate(task.origin)
    return contents.captureAll({ ...repo, place: target }, task.origin, following(work, 'reading'))
  }
  const branch = input.onto ?? task.base.branch
  const commit = branch === null ? undefined : await refs.findRef(repo.place, branchRef(branch), signal)
  if (commit === undefined) {
    throw new AppError(
      'baseMissing',
      branch === null ? `${task.id} was not started from a branch.` : `There is no branch ${branch}.`,
      {
        hint: ontoHint,
      },
    )
  }
  await requireBaseCommit(work)
  return rawTree(work, first.tree, commit)
}
