/** The line of steps of a task: finds it, reads it, appends to it. */
import path from 'node:path'
import type { Step, StepNote } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder, tipFile } from '../../core/model/layout.ts'
import { commitContent, parseCommit } from '../objects/commit.ts'
import type { OpenVault } from '../open.ts'
import { isObject, readTip } from '../place.ts'
import { hasSteps, stepsLost } from './lost.ts'
import { parseStep, stepMessage } from './step.ts'

type Linked = Step & { readonly parent: string | undefined }

async function readStep(vault: OpenVault, commit: string): Promise<Linked> {
  const { tree, parents, message } = parseCommit(await vault.objects.readObject(commit))
  const { skipped = [], ...note } = parseStep(message) ?? { n: -1, tool: '', summary: '', at: '' }
  return { ...note, commit, tree, skipped, parent: parents[0] }
}

/** The last step; undefined before the first one. Throws if the records know of steps that the vault lacks. */
export async function findTip(vault: OpenVault, task: Task): Promise<Linked | undefined> {
  const commit = await readTip(vault.files, vault.vault, task)
  if (commit === undefined ? hasSteps(task) : !isObject(commit)) throw stepsLost(task)
  return commit === undefined ? undefined : readStep(vault, commit)
}

/** Step 0, found without the records. */
export async function findStart(vault: OpenVault, uid: string): Promise<Step | undefined> {
  const commit = await readTip(vault.files, vault.vault, { uid })
  const [first] = !isObject(commit) ? [] : await stepsOf(vault, await readStep(vault, commit))
  return first
}

/** Every step of the task. */
export async function readSteps(vault: OpenVault, task: Task): Promise<Step[]> {
  const tip = await findTip(vault, task)
  return tip ? stepsOf(vault, tip) : []
}

/** The steps up to `tip`, from step `since` on. */
export async function stepsOf(vault: OpenVault, tip: Step, since = 0): Promise<Step[]> {
  const steps: Step[] = []
  for (let commit: string | undefined = tip.commit; commit !== undefined; ) {
    const { parent, ...step }: Linked = await readStep(vault, commit)
    steps.push(step)
    commit = step.n > since ? parent : undefined
  }
  return steps.reverse()
}

type NewStep = StepNote & Pick<Step, 'n' | 'skipped'>

/** Syncs the commit before it writes the ref: the step exists from the moment at which the ref names it. */
export async function commitStep(
  vault: OpenVault,
  task: Task,
  tree: string,
  parent: string | undefined,
  note: NewStep,
  record?: Task,
): Promise<Step> {
  const step = await putStep(vault, tree, parent, note, record)
  const tip = tipFile(vault.vault, task)
  await vault.files.writeDurable(tip, tipText(step), 0o600)
  await vault.files.sync([path.dirname(tip)])
  return step
}

/**
 * Commits step 0 if the task has no step yet. The caller need not hold the task's lock: `start` makes step 0 after it has
 * released the lock. Answers undefined if another process, or another handle of this process, was first: it may have
 * taken more steps since, and a step 0 in the place of its tip would lose them.
 */
export async function commitFirst(
  vault: OpenVault,
  task: Task,
  tree: string,
  note: NewStep,
): Promise<Step | undefined> {
  const step = await putStep(vault, tree, undefined, note, task)
  const tip = tipFile(vault.vault, task)
  if (!(await vault.files.writeDurableNew(tip, tipText(step), 0o600))) return undefined
  await vault.files.sync([path.dirname(tip)])
  return step
}

async function putStep(
  { objects, clock }: OpenVault,
  tree: string,
  parent: string | undefined,
  note: NewStep,
  record?: Task,
): Promise<Step> {
  const at = clock.now().toISOString()
  const message = stepMessage({ ...note, at, ...(record && { task: record }) })
  const parents = parent === undefined ? [] : [parent]
  const commit = await objects.put('commit', commitContent({ tree, parents, message, at }))
  await objects.sync()
  return { ...note, at, commit, tree }
}

function tipText({ commit }: Step): Buffer {
  return Buffer.from(`${commit}\n`)
}

/** Step 0. Every step needs it and it lies behind all others, so its id is noted in a file. */
export async function firstOf(vault: OpenVault, task: Task, tip: Step): Promise<Step> {
  const noted = await findFirstCommit(vault, task)
  if (noted) return readStep(vault, noted)
  const [first = tip] = await stepsOf(vault, tip)
  await noteFirst(vault, task, first)
  return first
}

/** The tool of a step 0 that holds what `postStart` wrote. */
export const setUp = 'postStart'

/** The steps that lie behind step 0: the workspace as it was made, and with the user's changes, before `postStart`. */
export async function findOrigin(vault: OpenVault, first: Step): Promise<{ made: Step; given: Step }> {
  const latest = await readStep(vault, first.commit)
  const before = latest.tool === setUp && latest.parent !== undefined ? latest.parent : first.commit
  const given = await readStep(vault, before)
  return { given, made: given.parent === undefined ? given : await readStep(vault, given.parent) }
}

export async function findFirstCommit(
  vault: OpenVault,
  task: Pick<Task, 'uid'>,
): Promise<string | undefined> {
  return (await vault.files.readText(firstFile(vault, task)))?.trim()
}

export async function noteFirst(vault: OpenVault, task: Task, { commit }: Step): Promise<void> {
  await vault.files.makeFolder(taskFolder(vault.vault, task), 0o700)
  await vault.files.write(firstFile(vault, task), `${commit}\n`, 0o600)
}

function firstFile({ vault }: OpenVault, task: Pick<Task, 'uid'>): string {
  return path.join(taskFolder(vault, task), taskFiles.first)
}
