/** Publishes steps as commits on the task's branch in the user's repository (docs/adr/0009-publish-by-pack.md). */
import path from 'node:path'
import { AppError } from '../../core/model/errors.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Published } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { branchRef, headOn } from '../../core/model/refs.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { readPlain } from '../../git/own.ts'
import { changeRefs, findRivals } from '../../git/refs.ts'
import { lastStep } from '../capture/first-step.ts'
import { stepsOf } from '../journal/steps.ts'
import { commitContent } from '../objects/commit.ts'
import { lenders } from '../objects/lenders.ts'
import type { OpenVault } from '../open.ts'
import { commitSteps } from './commit-steps.ts'
import { gatherHeads } from './heads.ts'
import { joinPlan, type Move } from './join-plan.ts'
import { clearHeads, keepLeftOut } from './left-out.ts'
import { writeOwnIndex, writeOwnRef } from './own-git.ts'
import { lastOf, type Line, readLines, writeLines } from './published.ts'
import { transfer } from './transfer.ts'

/** The same steps give the same commits, so that a publish which a crash cut off can be repeated. */
export async function publish(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<Published> {
  const step = await lastStep(vault, repo, task, signal)
  const branch = await branchFor(vault, repo, task)
  const lines = await readLines(vault, task)
  const steps = await stepsOf(vault, step, lastOf(lines))
  const fresh = await commitSteps(vault, task, steps, lines, signal)
  const lent = { ...vault, alternates: await lenders(vault, repo, task) }
  const ends = { tip: fresh.at(-1) ?? lines.at(-1), last: lines.at(-1)?.commit }
  const gathered = await gatherHeads(lent, repo, task, branchRef(branch), ends, signal)
  const plan = joinPlan(gathered)
  if (plan.kind === 'none') return { branch, tip: plan.tip, merged: false }
  if (plan.kind === 'settled') {
    await syncIndex(vault, repo, task, branch, plan.tip, signal)
    return { branch, tip: plan.tip, merged: false }
  }
  const own = await clearHeads(lent, repo, task, plan.join, gathered, signal)
  const joined = own.heads.length > 0 ? await commitJoin(lent, task, { ...plan, join: own.heads }) : undefined
  const { commit: tip } = joined ?? plan.tip
  await vault.objects.sync()
  const lacking = await keepLeftOut(lent, repo, task, gathered, signal)
  const move = { branch, from: gathered.heads.branch, to: tip, known: plan.known }
  await moveBranch(lent, repo, task, move, signal)
  await syncIndex(vault, repo, task, branch, tip, signal)
  await writeLines(vault, task, [...lines, ...fresh, ...(joined ? [joined] : [])])
  const leftOut = [lacking, own.leftOut].filter((text) => text !== undefined).join(' ') || undefined
  return { branch, tip, merged: joined !== undefined, leftOut }
}

/**
 * An adopted branch is the user's and stays where it is: the steps get a branch beside it. We note its name before it
 * exists, so that we never mistake somebody else's branch for it.
 */
export async function branchFor(vault: OpenVault, repo: Repo, task: Task): Promise<string> {
  if (!task.adopted) return task.branch
  const note = path.join(taskFolder(vault.vault, task), taskFiles.branch)
  const noted = await vault.files.readText(note)
  if (noted) return noted.trim()
  for (let n = 1; ; n++) {
    const name = `offshoot/${task.id}${n === 1 ? '' : `-${n}`}`
    if ((await findRivals(repo.place, name)).length > 0) continue
    await vault.files.makeFolder(path.dirname(note), 0o700)
    await vault.files.write(note, `${name}\n`, 0o600)
    return name
  }
}

/** A merge commit of the agent's own commits and the steps, with the files of the last step. */
async function commitJoin(
  vault: OpenVault,
  task: Task,
  { join, tip: { commit, tree } }: Move,
): Promise<Line> {
  const message = `Join the agent's own commits and the steps of ${task.id}\n`
  const parts = { tree, parents: [...join, commit], message, at: vault.clock.now().toISOString() }
  return { n: undefined, commit: await vault.objects.put('commit', commitContent(parts)), tree }
}

/** Moves the branch in the user's repository, and that of a clone with it. */
async function moveBranch(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  { branch, from, to, known }: BranchMove,
  signal?: AbortSignal,
): Promise<void> {
  const ref = branchRef(branch)
  if (from !== to) {
    await transfer(vault, repo, to, known, signal)
    const change = { ref, old: from ?? null, new: to }
    const reason = `offshoot: steps of ${task.uid}`
    if (!(await changeRefs(vault.exec, vault.files, repo.place, [change], reason, signal)))
      throw new AppError('locked', `The branch ${branch} moved while it was being published.`)
  }
  if (task.isolation === 'clone') await writeOwnRef(vault.files, workspacePlace(repo, task), ref, to)
}

interface BranchMove {
  readonly branch: string
  readonly from: string | undefined
  readonly to: string
  /** Commits of which the user's repository has every object. */
  readonly known: readonly string[]
}

/** Moves the workspace's own index with its branch, so that `git status` there is right. */
async function syncIndex(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  branch: string,
  tip: string,
  signal?: AbortSignal,
): Promise<void> {
  const { gitDir } = workspacePlace(repo, task)
  const head = await readPlain(vault.files, gitDir, 'HEAD')
  if (head?.trim() === headOn(branch)) await writeOwnIndex(vault, repo, task, tip, signal)
}
