/** Makes step 0 of a task: the workspace as it was made (docs/adr/0008-vault-adopts-the-base.md). */
import path from 'node:path'
import { allEnded } from '../../core/base/concurrency.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { agedMark, taskFiles, taskFolder } from '../../core/model/layout.ts'
import { commitFirst, findTip, firstOf, noteFirst } from '../journal/steps.ts'
import { adopt } from '../objects/adopt.ts'
import { readTree } from '../objects/commit.ts'
import type { OpenVault } from '../open.ts'
import { keepConfig } from './kept-config.ts'
import { keepIndex, seedTree } from './seed.ts'
import { findMade } from './slot.ts'

/** Keeps the index and the config of a fresh workspace before the agent may touch them. */
export async function prepare(vault: OpenVault, repo: Repo, task: Task): Promise<void> {
  const folder = taskFolder(vault.vault, task)
  await vault.files.makeFolder(folder, 0o700)
  await allEnded([keepIndex(vault, repo, task), keepConfig(vault, repo, folder)])
}

/** Keeps the index anew, after the workspace was made again as it was at the start. */
export async function reseed(vault: OpenVault, repo: Repo, task: Task): Promise<void> {
  const index = path.join(taskFolder(vault.vault, task), taskFiles.index)
  await vault.files.remove(index)
  await vault.files.remove(agedMark(index))
  await keepIndex(vault, repo, task)
}

/** `start` and the first checkpoint may call this at once, and must make a single step 0; see also `commitFirst`. */
export function seed(vault: OpenVault, repo: Repo, task: Task, signal?: AbortSignal): Promise<Step> {
  const { seeding } = vault
  const running = seeding.get(task.uid) ?? makeSeed(vault, repo, task, signal)
  seeding.set(task.uid, running)
  running.catch(() => seeding.delete(task.uid))
  return running
}

async function makeSeed(vault: OpenVault, repo: Repo, task: Task, signal?: AbortSignal): Promise<Step> {
  const there = await findTip(vault, task)
  if (there) return firstOf(vault, task, there)
  const tree = await madeTree(vault, repo, task, signal)
  const note = { n: 0, tool: 'start', summary: '', skipped: [] }
  const first = await commitFirst(vault, task, tree, note)
  if (!first) return makeSeed(vault, repo, task, signal)
  await noteFirst(vault, task, first)
  return first
}

/** The tree of the workspace when it was made. A slot has noted it. */
export async function madeTree(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<string> {
  const index = await keepIndex(vault, repo, task)
  const noted = await findMade(vault, task)
  if (noted !== undefined) return noted
  return seedTree(vault, task.path, await readTree(vault, task.base.commit), index, signal)
}

/** The last step, which is step 0 where there is no other. */
export async function lastStep(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<Step> {
  return (await findTip(vault, task)) ?? (await seed(vault, repo, task, signal))
}

/** Copies the objects of step 0 into the vault. */
export async function adoptFirst(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<void> {
  const { tree } = await seed(vault, repo, task, signal)
  await adopt(vault, task, tree, signal)
}
