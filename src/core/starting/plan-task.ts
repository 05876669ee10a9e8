/** Plans a new task: its branch, its base commit and the path of its workspace. Changes nothing. */
import type { Isolation } from '../model/enums.ts'
import { AppError } from '../model/errors.ts'
import type { Worktree } from '../model/git.ts'
import { trashOf } from '../model/layout.ts'
import { baseFolder, fromTemplate, type NameParts, requireBranchName, requireInside } from '../model/names.ts'
import { branchRef } from '../model/refs.ts'
import { checkoutRoot, type Repo } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { mainRoot } from '../tasks/repo.ts'
import { branchTaken, requireBase } from '../workspaces/make.ts'
import { requireFree } from '../workspaces/recreate.ts'

/** The wishes of the user about a new task; whatever is left out, the settings and the repository decide. */
export interface PlanInput {
  readonly dir: string
  readonly task: string
  readonly title?: string | undefined
  readonly from?: string | undefined
  readonly branch?: string | undefined
  readonly existingBranch?: string | undefined
  readonly isolation?: Isolation | undefined
  /** The folder for the workspace, instead of `workspace.base`. */
  readonly base?: string | undefined
  /** The common name of sibling tasks. */
  readonly group?: string | undefined
}

/** The record of the new task. */
export async function planTask(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  input: PlanInput,
  uid: string,
  signal?: AbortSignal,
): Promise<Task> {
  const { history, refs, git } = ports
  const place = repo.place
  const commit =
    input.existingBranch === undefined
      ? await history.findCommit(place, input.from ?? 'HEAD', signal)
      : await refs.findRef(place, branchRef(input.existingBranch), signal)
  if (commit === undefined) throw baseMissing(input)
  const now = ports.clock.now()
  const parts = { task: input.task, uid, repo: repo.name, now }
  const branch = requireBranchName(
    input.existingBranch ?? input.branch ?? fromTemplate(settings.branch.name, parts),
  )
  const worktrees = await git.readWorktrees(place)
  requireFree(branch, worktrees)
  const [rival] = input.existingBranch === undefined ? await refs.findRivals(place, branch) : []
  if (rival !== undefined) throw branchTaken(branch, rival)
  return {
    uid,
    repo: repo.id,
    id: input.task,
    title: input.title ?? '',
    state: 'pending',
    isolation: input.isolation ?? 'worktree',
    ...(input.isolation === 'branch'
      ? { path: checkoutRoot(place), shadow: { gitDir: place.gitDir, operation: ports.ids.uid() } }
      : {
          path: await freePath(
            ports,
            repo,
            settings,
            input.base ?? settings.workspace.base,
            parts,
            worktrees,
          ),
        }),
    branch,
    adopted: input.existingBranch !== undefined,
    base: { branch: input.existingBranch ?? (await baseBranch(ports, repo, input.from, signal)), commit },
    origin: checkoutRoot(place),
    head: commit,
    checkpoints: 0,
    files: 0,
    insertions: 0,
    deletions: 0,
    runs: 0,
    createdAt: now.toISOString(),
    lastActiveAt: now.toISOString(),
    ...(input.group !== undefined && { group: input.group }),
  }
}

/** The folder that `workspace.base`, or an option in its place, names. */
export function baseAt(
  { home, userHome }: Pick<Ports, 'home' | 'userHome'>,
  repo: Repo,
  wanted: string,
): string {
  return baseFolder(wanted, { home, repo: repo.name, root: mainRoot(repo.place), userHome })
}

async function freePath(
  ports: Pick<Ports, 'files' | 'home' | 'userHome'>,
  repo: Repo,
  settings: Settings,
  wanted: string,
  parts: NameParts,
  worktrees: readonly Worktree[],
): Promise<string> {
  const { files } = ports
  const base = await requireBase(ports, baseAt(ports, repo, wanted), repo.place)
  const taken = new Set([
    ...(await files.readNames(base)),
    ...(await files.readNames(trashOf(base))),
    ...worktrees.map((worktree) => worktree.name),
  ])
  return requireInside(base, freeName(fromTemplate(settings.workspace.name, parts), taken))
}

function baseMissing(input: PlanInput): AppError {
  const { existingBranch, from } = input
  if (existingBranch !== undefined)
    return new AppError('baseMissing', `There is no branch ${existingBranch}.`, {
      hint: 'git branch lists the branches that --existing-branch can name.',
    })
  if (from !== undefined)
    return new AppError('baseMissing', `There is no branch, tag or commit ${from}.`, {
      hint: 'git branch --all and git tag show what --from can name.',
    })
  return new AppError('baseMissing', 'The repository has no commit yet, so there is nothing to start from.', {
    hint: 'Make a first one: git commit --allow-empty -m "First commit"',
    path: input.dir,
  })
}

/** A folder name that is free, for two starts of one id within a second, or a leftover of that name. */
function freeName(wanted: string, taken: ReadonlySet<string | null>): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (!taken.has(name)) return name
  }
}

/** The branch that the work is meant for; null when it started from a tag, a commit or a detached HEAD. */
async function baseBranch(
  ports: Pick<Ports, 'git' | 'refs'>,
  repo: Repo,
  from: string | undefined,
  signal?: AbortSignal,
) {
  if (from === undefined || from === 'HEAD') return ports.git.readHeadBranch(repo.place)
  return (await ports.refs.findRef(repo.place, branchRef(from), signal)) === undefined ? null : from
}
