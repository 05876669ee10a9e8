/** Makes step 0 of a workspace that gets the user's uncommitted changes. */
import type { BytePath } from '../../core/model/bytes.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import type { Leaf } from '../../core/model/tree.ts'
import { taskFolder } from '../../core/model/layout.ts'
import { madeTree } from '../capture/first-step.ts'
import { noteIndexed } from '../capture/indexed.ts'
import { commitStep, noteFirst } from '../journal/steps.ts'
import { commitContent } from '../objects/commit.ts'
import { changeTree } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { restore } from './restore.ts'
import { restoreScope } from './restore-step.ts'

/** The parent of such a step 0 holds the workspace as it was made, so that a diff can show the user's own changes. */
export async function seedWith(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  changes: ReadonlyMap<BytePath, Leaf | null>,
  signal?: AbortSignal,
): Promise<Step> {
  const made = await madeTree(vault, repo, task, signal)
  const { tree } = await changeTree(vault.objects, made, changes)
  // The index lacks the user's changes. Noting its tree makes the next capture read the changed files.
  await noteIndexed(vault.files, taskFolder(vault.vault, task), made)
  await restore(restoreScope(vault, task), made, tree, { signal })
  const at = vault.clock.now().toISOString()
  const message = 'The workspace as it was made\n'
  const parent = await vault.objects.put('commit', commitContent({ tree: made, parents: [], message, at }))
  const note = { n: 0, tool: 'start', summary: 'with what was not committed', skipped: [] }
  const first = await commitStep(vault, task, tree, parent, note, task)
  await noteFirst(vault, task, first)
  return first
}
