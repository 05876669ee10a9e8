/** One case from start to undo. */
import { expect } from 'vitest'
import { readTree } from './disk.ts'
import type { As, Chosen, Landed } from './parts.ts'
import { landedAsCommit, type Layers } from './reference.ts'
import { changes, listed, type Tree } from './tree.ts'
import type { CaseRepo } from './case-repo.ts'

export interface Case {
  readonly base: Tree
  /** What the user has not committed when the task starts, and starts it with. */
  readonly dirty?: Layers
  /** The workspace after each step. */
  readonly states: readonly Tree[]
  readonly user: Layers
  readonly as: As
  readonly choice: Chosen
  readonly told: Landed
}

export async function checkCase(caseRepo: CaseRepo, one: Case): Promise<void> {
  const task = await caseRepo.work(one.base, one.states, one.dirty)
  try {
    await caseRepo.edit(one.user)
    const [before, indexFile, workspace] = [
      await caseRepo.state(),
      caseRepo.readIndexFile(),
      readTree(task.path),
    ]
    const operation = await landOrRefuse(caseRepo, task.id, one)
    if (operation === undefined || one.as === 'patch') expect(caseRepo.readIndexFile()).toBe(indexFile)
    if (operation !== undefined) await caseRepo.lib.undo(operation)
    expect(await caseRepo.state()).toEqual(before)
    expect(readTree(task.path)).toEqual(workspace)
  } finally {
    caseRepo.look()
    await caseRepo.lib.remove({ task: task.id, force: true })
  }
}

/** Answers the operation, if there is to be one. */
async function landOrRefuse(
  { lib, git, ...caseRepo }: CaseRepo,
  task: string,
  { user, as, choice, told }: Case,
) {
  const tip = (await git('rev-parse', 'HEAD')).trim()
  const accepting = lib.accept({ task, as, ...choice })
  if (!('layers' in told.expected)) {
    await expect(accepting, JSON.stringify(told.expected)).rejects.toMatchObject({ code: 'WT_011' })
    return undefined
  }
  const { operation } = await accepting
  const { head, index, files } = told.expected.layers
  expect(caseRepo.look()).toEqual(listed(files))
  expect(await caseRepo.index()).toEqual(listed(index))
  expect(await caseRepo.tree('HEAD')).toEqual(listed(head))
  const made = (await git('rev-list', '--first-parent', `${tip}..HEAD`)).split('\n').length - 1
  expect(made).toBe(commits(as, user, told))
  expect(await lib.exists(task)).toBe(!told.whole)
  return operation
}

/** How many commits the branch gets. */
function commits(as: As, user: Layers, { parts, expected }: Landed): number {
  if (as === 'patch' || !('layers' in expected)) return 0
  let [count, head] = [0, user.head]
  for (const part of parts) {
    const next = landedAsCommit([part], { head, index: head, files: head })
    if (!('layers' in next)) continue
    if (changes(head, next.layers.head).size > 0) count++
    head = next.layers.head
  }
  return count
}
