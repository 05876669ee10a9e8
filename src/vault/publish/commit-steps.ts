/** Steps as commits: each file passes through the user's conversions. */
import type { BytePath } from '../../core/model/bytes.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import type { StartPart } from '../../core/ports/seeding.ts'
import { seed } from '../capture/first-step.ts'
import { stepMessage } from '../journal/step.ts'
import { findOrigin } from '../journal/steps.ts'
import { commitContent, readTree } from '../objects/commit.ts'
import { isRefusedLink } from '../../core/model/dot-git.ts'
import { changeTree, compareTrees, type Leaf } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { clean } from './clean.ts'
import { lastOf, type Line } from './published.ts'

/**
 * Makes a commit for each step that has none. `steps` begins with the last published one. Depends on no other state.
 */
export async function commitSteps(
  vault: OpenVault,
  task: Task,
  steps: readonly Step[],
  lines: readonly Line[],
  signal?: AbortSignal,
  start: StartPart = 'given',
): Promise<Line[]> {
  const fresh: Line[] = []
  const done = lastOf(lines)
  let before = steps.find((step) => step.n === done)
  const news = steps.filter((step) => step.n > done)
  if (lines.length === 0 && before && news.length > 0)
    fresh.push(...(await commitStart(vault, task, before, start)))
  let { commit: parent, tree } = [...lines, ...fresh].at(-1) ?? {
    commit: task.base.commit,
    tree: await readTree(vault, task.base.commit),
  }
  for (const step of news) {
    const changes = await storableChanges(vault, before?.tree ?? null, step.tree)
    before = step
    tree = (await changeTree(vault.objects, tree, await clean(vault, task, step.tree, changes, signal))).tree
    const { n, tool, summary, at, run, call, calls, rewindTo, basis } = step
    const message = stepMessage({ n, tool, summary, at, run, call, calls, rewindTo, basis })
    parent = await vault.objects.put('commit', commitContent({ tree, parents: [parent], message, at }))
    fresh.push({ n, commit: parent, tree })
  }
  return fresh
}

/** Commits the user's uncommitted changes of the start separately, so that the steps hold only the agent's work. */
async function commitStart(vault: OpenVault, task: Task, first: Step, part: StartPart): Promise<Line[]> {
  const tree = await startTree(vault, task, first, part)
  if (tree === (await readTree(vault, task.base.commit))) return []
  const message = `What was not committed at the start of ${task.id}\n\nOffshoot-Step: 0\n`
  const parts = { tree, parents: [task.base.commit], message, at: first.at }
  return [{ n: 0, commit: await vault.objects.put('commit', commitContent(parts)), tree }]
}

export async function readStart(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  part: StartPart,
  signal?: AbortSignal,
): Promise<string> {
  return startTree(vault, task, await seed(vault, repo, task, signal), part, signal)
}

/** The tree of step 0 after the conversions. */
async function startTree(
  vault: OpenVault,
  task: Task,
  first: Step,
  part: StartPart,
  signal?: AbortSignal,
): Promise<string> {
  const base = await readTree(vault, task.base.commit)
  const { made, given } = await findOrigin(vault, first)
  const { tree } = part === 'all' ? first : given
  if (tree === made.tree) return base
  const changes = await storableChanges(vault, made.tree, tree)
  return (await changeTree(vault.objects, base, await clean(vault, task, tree, changes, signal))).tree
}

/** The differences of two trees, without links that git refuses to store. */
async function storableChanges(
  vault: OpenVault,
  from: string | null,
  to: string,
): Promise<Map<BytePath, Leaf | null>> {
  const changes = new Map<BytePath, Leaf | null>()
  for (const [file, change] of await compareTrees(vault.objects, from, to)) {
    changes.set(file, change.to && !isRefusedLink(file, change.to.mode) ? change.to : null)
  }
  return changes
}
