/** Looks at a workspace without taking a step: what no step holds, and what is ignored. */
import { toText } from '../../core/model/bytes.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Present, StepFile } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { readOwnHead } from '../../git/own.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { findTip } from '../journal/steps.ts'
import { lenders } from '../objects/lenders.ts'
import type { OpenVault } from '../open.ts'
import { compareWithTip, findQuiet, scopeOf } from './against-tip.ts'
import { scanIgnored, withoutCaptured } from './ignore-rule.ts'
import { noteOverlay } from './overlays.ts'

/** The workspace as it is now. It is stored, as for a step, so that git can compare it; no ref holds it. */
export async function readPresent(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<Present> {
  const quiet = await findQuiet(vault, task)
  if (quiet) return { step: quiet, tree: quiet.tree, files: [] }
  const { tip, overlay, found } = await compareWithTip(vault, repo, task, undefined, { signal })
  if (found.files.length === 0) await noteOverlay(vault, task, overlay, tip, found.news)
  const files = found.files.map((file) => ({ ...file, path: toText(file.path) }))
  return { step: tip, tree: found.tree, files }
}

/** The files that neither the last step nor HEAD holds. */
export async function readDirt(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<readonly StepFile[]> {
  const { tree, files } = await readPresent(vault, repo, task, signal)
  return files.length === 0 || tree === (await headTree(vault, repo, task, signal)) ? [] : files
}

/** The tree of the workspace's own HEAD; undefined when its git is broken. */
async function headTree(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const head = await readOwnHead(vault.files, workspacePlace(repo, task))
  if (head === undefined) return undefined
  const { code, stdout } = await vault.exec({
    args: ['rev-parse', '--verify', '--quiet', `${head}^{tree}`],
    gitDir: vault.vault,
    alternates: await lenders(vault, repo, task),
    cwd: vault.vault,
    expect: [1, 128],
    signal,
  })
  return code === 0 ? stdout.toString().trim() : undefined
}

/** Whether the last step holds every file of a former workspace, except ignored ones. */
export async function isKept(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  folder: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!(await findTip(vault, task))) return false
  const { found } = await compareWithTip(vault, repo, { ...task, path: folder }, undefined, { signal })
  return found.files.length === 0 && found.skipped.length === 0
}

/** The ignored files that no step holds. */
export async function readIgnored(vault: OpenVault, task: Task, signal?: AbortSignal): Promise<string[]> {
  const found = await scanIgnored(vault.exec, scopeOf(vault, task), signal)
  const tip = await findTip(vault, task)
  const left = tip ? await withoutCaptured(vault.objects, tip.tree, task.path, found) : found
  return left.map(toText)
}
