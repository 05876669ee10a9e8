/** Finds the commits beside the steps that a publish must not lose. */
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { isAncestor } from '../../git/ancestor.ts'
import { readOwnHead, readOwnRef } from '../../git/own.ts'
import { findRef } from '../../git/refs.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import type { OpenVault } from '../open.ts'
import { bringIn } from './bring-in.ts'
import { distinct, type Gathered, type Heads, type Standing } from './join-plan.ts'

/** `vault` must read the objects of the workspace, too. */
export async function gatherHeads(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  ref: string,
  { tip, last }: Pick<Gathered, 'tip' | 'last'>,
  signal?: AbortSignal,
): Promise<Gathered> {
  const heads = await readHeads(vault, repo, task, ref, signal)
  const standings = new Map<string, Standing>()
  const base = task.base.commit
  const known = last === undefined ? [base] : [base, last]
  for (const head of distinct(heads))
    if (tip && head !== last) standings.set(head, await standingOf(vault, head, known, tip.commit, signal))
  return { base, tip, last, heads, standings }
}

async function readHeads(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  ref: string,
  signal?: AbortSignal,
): Promise<Heads> {
  const branch = await findRef(vault.exec, repo.place, ref, signal)
  const own = workspacePlace(repo, task)
  const workspace = task.isolation === 'clone' ? await readOwnRef(vault.files, own, ref) : branch
  const stray = await strayHead(vault, repo, task, [branch, workspace], signal)
  return { branch, workspace, stray }
}

/**
 * The agent's last commit, if it is on no branch, or in a clone on another branch, and no ref of the user's repository
 * reaches it. On the agent's own branch in the user's repository it is safe without us.
 */
async function strayHead(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  known: readonly (string | undefined)[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const head = await readOwnHead(vault.files, workspacePlace(repo, task))
  if (head === undefined || head === task.base.commit || known.includes(head)) return undefined
  const { code, stdout } = await vault.exec({
    args: ['rev-list', '--max-count=1', '--single-worktree', head, '--not', '--all'],
    gitDir: repo.commonDir,
    alternates: vault.alternates,
    cwd: repo.commonDir,
    expect: [128],
    signal,
  })
  return code === 0 && stdout.length > 0 ? head : undefined
}

async function standingOf(
  vault: OpenVault,
  head: string,
  known: readonly string[],
  tip: string,
  signal?: AbortSignal,
): Promise<Standing> {
  // The steps are published on top of these commits: the vault must keep them if the user's repository loses them.
  if (!(await bringIn(vault, head, known, signal))) return 'lacking'
  const where = { gitDir: vault.vault, alternates: vault.alternates, mayLack: true }
  return (await isAncestor(vault.exec, where, head, tip, signal)) ? 'below' : 'beside'
}
