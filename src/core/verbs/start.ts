/** The verb start: makes a task with its branch and workspace. */
import { counted } from '../base/counted.ts'
import type { Work } from '../tasks/work.ts'
import { allEnded } from '../base/concurrency.ts'
import { now } from '../base/time.ts'
import { rejectTask } from '../closing/close-task.ts'
import { type HookRun, runTaskHook } from '../hooks/hooks.ts'
import type { BytePath } from '../model/bytes.ts'
import type { CommandCall } from '../model/command.ts'
import type { Isolation } from '../model/enums.ts'
import { AppError, appError } from '../model/errors.ts'
import type { Submodules, Worktree } from '../model/git.ts'
import {
  baseFolder,
  fromTemplate,
  type NameParts,
  requireBranchName,
  requireInside,
  requireTaskId,
  taskIdFrom,
} from '../model/names.ts'
import type { OnProgress } from '../model/progress.ts'
import { redacted } from '../model/redact.ts'
import { branchRef } from '../model/refs.ts'
import { checkoutRoot, type Repo, repoLock } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { type Task, taskLock } from '../model/task.ts'
import type { Leaf } from '../model/tree.ts'
import { trashOf } from '../model/layout.ts'
import { perform } from '../operations/perform.ts'
import { entering, findShadow, requireShadowable } from '../operations/shadow.ts'
import type { Ports } from '../ports/index.ts'
import { requireSettled } from '../tasks/guards.ts'
import { append } from '../tasks/records.ts'
import { mainRoot, requireRepo } from '../tasks/repo.ts'
import { include, type Included } from '../workspaces/include.ts'
import { branchTaken, makeFolder, makeRefs, requireBase, undoStart } from '../workspaces/make.ts'
import { askForSlots, takeSlot } from '../workspaces/pool.ts'
import { holdBlock } from '../workspaces/port-block.ts'
import { ensureWorkspace, requireFree } from '../workspaces/recreate.ts'

export interface StartInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly title?: string | undefined
  readonly from?: string | undefined
  readonly branch?: string | undefined
  readonly existingBranch?: string | undefined
  readonly isolation?: Isolation | undefined
  /** Starts from the checkout as it is, with uncommitted changes. */
  readonly dirty?: boolean | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
  readonly onProgress?: OnProgress | undefined
  /** The folder for the workspace, instead of `workspace.base`. */
  readonly base?: string | undefined
  /** The common name of sibling tasks. */
  readonly group?: string | undefined
}

export interface Started {
  readonly repo: Repo
  readonly task: Task
  /** The task was open already. */
  readonly reused: boolean
  /** Its folder was gone and was made again. */
  readonly recreated: boolean
  /** Ignored files of the user that the new workspace got. */
  readonly included?: Included | undefined
  /** Which submodules of a new workspace were checked out, and which were not. */
  readonly submodules?: Submodules | undefined
  /** Files that are still Git LFS pointers. */
  readonly pointers?: readonly string[] | undefined
  /** How the `postStart` hook ended; undefined when there is none. */
  readonly setup?: HookRun | undefined
}

type Made = Omit<Started, 'repo' | 'setup'>

/** Makes the task, its branch and its workspace; or answers the open task of that id. */
export async function start(ports: Ports, asked: StartInput, signal?: AbortSignal): Promise<Started> {
  // The title becomes part of id, branch and commits, so secrets are masked first.
  const input = { ...asked, title: redacted(asked.title ?? '') }
  requireSound(input)
  const repo = await requireRepo(ports, input.dir, signal)
  const settings = await ports.settings.read(repo.place.checkout)
  if (!settings.enabled) {
    throw new AppError('policyRefused', 'offshoot is switched off here.', {
      hint: 'Unset OFFSHOOT_DISABLED, or set enabled: true.',
    })
  }
  const uid = ports.ids.uid()
  const id = input.task ?? taskIdFrom(input.title, uid)
  const waitMs = settings.lock.waitSeconds * 1000
  const started = await ports.locks.hold(
    taskLock(repo.id, id),
    { verb: 'start', waitMs, signal },
    async () => {
      const open = await ports.store.findOpenTask(repo.id, id)
      if (open) return reuse({ ports, repo, task: open, signal }, { ...input, task: id })
      if (input.isolation === 'branch') await vacateCheckout(ports, repo, settings, id, signal)
      const task = await planTask(ports, repo, settings, { ...input, task: id }, uid, signal)
      const changes = input.dirty ? await takeDirt({ ports, repo, task, signal }) : undefined
      const made = await make(ports, repo, settings, task, changes, signal, input.onProgress)
      return { ...made, reused: false, recreated: false }
    },
  )
  if (started.reused || started.task.shadow) return { ...started, repo }
  // Without the lock, because a hook may call offshoot.
  const { onOutput } = input
  const setup = await runTaskHook(ports, repo, started.task, 'postStart', { onOutput }, signal)
  return { ...started, repo, setup }
}

/** A checkout has one task at a time: rejects the task that works there, which undo brings back. */
async function vacateCheckout(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  const other = await findShadow(ports, repo, repo.place.checkout)
  if (other && !settings.autoRevert.newTask) {
    throw new AppError('policyRefused', `The task ${other.id} is at work in this checkout.`, {
      path: other.path,
      hint: `Accept or reject it first, or set autoRevert.newTask: true.`,
    })
  }
  const auto = { trigger: 'new task', reason: `${id} was started in its checkout` } as const
  if (other) await rejectTask({ ports, repo, task: other, signal }, { auto })
  await requireShadowable(ports, repo)
}

function requireSound(input: StartInput): void {
  if (input.task !== undefined) requireTaskId(input.task)
  if (input.branch !== undefined) requireBranchName(input.branch)
  if (input.existingBranch !== undefined) requireBranchName(input.existingBranch)
  if (input.branch !== undefined && input.existingBranch !== undefined) {
    throw new AppError(
      'wrongUsage',
      '--branch and --existing-branch cannot be combined: one makes a new branch, the other uses an old one.',
    )
  }
  if (input.existingBranch !== undefined && input.from !== undefined) {
    throw new AppError(
      'wrongUsage',
      '--from cannot be combined with --existing-branch: it names the start of a new branch.',
    )
  }
  if (input.isolation === 'branch' && (input.from ?? input.existingBranch) !== undefined) {
    throw new AppError(
      'wrongUsage',
      `${input.from === undefined ? '--existing-branch' : '--from'} cannot be combined with --isolation branch, which starts from what is checked out.`,
      { hint: 'Leave it out, or check that branch out first.' },
    )
  }
  if (input.dirty && (input.from ?? input.existingBranch) !== undefined) {
    throw new AppError(
      'wrongUsage',
      `--dirty cannot be combined with ${input.from === undefined ? '--existing-branch' : '--from'}: it starts from what is checked out.`,
      {
        hint: 'Leave one of them out.',
      },
    )
  }
  if (input.dirty && input.isolation === 'branch') {
    throw new AppError(
      'wrongUsage',
      '--dirty cannot be combined with --isolation branch, which puts uncommitted work away.',
    )
  }
  if (input.isolation === 'clone' && input.existingBranch !== undefined) {
    throw new AppError(
      'wrongUsage',
      '--existing-branch cannot be combined with --isolation clone, which has branches of its own.',
    )
  }
}

/** Reads the repository and decides the record of the new task; changes nothing. */
async function planTask(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  input: StartInput & { task: string },
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

async function freePath(
  ports: Pick<Ports, 'files' | 'home' | 'userHome'>,
  repo: Repo,
  settings: Settings,
  wanted: string,
  parts: NameParts,
  worktrees: readonly Worktree[],
): Promise<string> {
  const { files } = ports
  const root = mainRoot(repo.place)
  const at = { home: ports.home, repo: repo.name, root, userHome: ports.userHome }
  const base = await requireBase(ports, baseFolder(wanted, at), repo.place)
  const taken = new Set([
    ...(await files.readNames(base)),
    ...(await files.readNames(trashOf(base))),
    ...worktrees.map((worktree) => worktree.name),
  ])
  return requireInside(base, freeName(fromTemplate(settings.workspace.name, parts), taken))
}

function baseMissing(input: StartInput): AppError {
  const { existingBranch, from } = input
  if (existingBranch !== undefined)
    return new AppError('baseMissing', `There is no branch ${existingBranch}.`, {
      hint: 'git branch lists the branches that --existing-branch can name.',
    })
  if (from !== undefined) return new AppError('baseMissing', `There is no branch, tag or commit ${from}.`)
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

/** The user's uncommitted changes: they are in the workspace from the beginning, and never count as the agent's work. */
async function takeDirt({
  ports,
  repo: { place, ...repo },
  task,
  signal,
}: Work): Promise<ReadonlyMap<BytePath, Leaf | null>> {
  if (place.checkout === null)
    throw new AppError('notARepository', 'A bare repository has no checkout to start from.')
  return ports.contents.captureChanges({ ...repo, place }, place.checkout, task.base.commit, signal)
}

async function make(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  plan: Task,
  changes: ReadonlyMap<BytePath, Leaf | null> | undefined,
  signal?: AbortSignal,
  onProgress?: OnProgress,
): Promise<Omit<Made, 'reused' | 'recreated'>> {
  const { store } = ports
  const task = await ports.locks.hold(repoLock(repo.place), { verb: 'start', signal }, async () => {
    requireBelowLimit(await store.countOpenTasks(repo.id), settings.limits.perRepo)
    return holdBlock(
      ports,
      settings.ports,
      plan,
      async (portBlock) => {
        signal?.throwIfAborted()
        const begun = portBlock ? { ...plan, portBlock } : plan
        await append(
          ports,
          plan.uid,
          { type: 'start.begun', task: begun, owner: ports.processes.self() },
          now(ports),
        )
        return begun
      },
      signal,
    )
  })
  try {
    if (task.shadow) return { task: await makeShadow(ports, repo, { ...task, shadow: task.shadow }, signal) }
    const [, plain] = await allEnded([
      makeRefs({ ports, repo, task, signal }),
      makeWorkspace(ports, repo, settings, task, signal, onProgress),
    ])
    // Converted files are kept now, while nobody can have touched them; a plain workspace equals its base commit.
    if (changes) await ports.seeding.seedWith(repo, task, changes, signal)
    else if (!plain) await ports.seeding.seed(repo, task, signal)
    const submodules = await ports.isolations.fillSubmodules(repo, task, task.base.commit, signal)
    const pointers = await ports.isolations.findPointers(repo, task, signal)
    const included = await include(ports, repo, repo.place, settings.workspace, task, signal)
    signal?.throwIfAborted()
    const started = await append(ports, task.uid, { type: 'start.done' }, now(ports))
    ports.later(() => ports.seeding.seed(repo, started))
    ports.later(() => askForSlots({ ports, repo, task: started }, settings))
    return { task: started, included, submodules, pointers }
  } catch (error) {
    // If this fails too, the task stays pending, and the next command takes it back.
    await undoStart({ ports, repo, task }, appError(error)).catch(() => {})
    throw error
  }
}

/** Takes a slot, or makes a new workspace. Answers whether step 0 can be made later, without reading the files. */
async function makeWorkspace(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  task: Task,
  signal?: AbortSignal,
  onProgress?: OnProgress,
): Promise<boolean> {
  const slot = settings.pool.size > 0 ? await takeSlot({ ports, repo, task, signal }) : 'none'
  if (slot === 'whole') return true
  if (slot === 'none') await makeFolder({ ports, repo, task }, signal, onProgress)
  // The index is kept now, too: files that the agent adds later would look like part of the base.
  const [plain] = await allEnded([ports.seeding.isPlain(repo, task), ports.seeding.prepare(repo, task)])
  return plain
}

async function makeShadow(
  ports: Ports,
  repo: Repo,
  task: Parameters<typeof entering>[2],
  signal?: AbortSignal,
): Promise<Task> {
  await ports.seeding.prepare(repo, task)
  return perform({ ports, repo, task }, await entering(ports, repo, task, signal))
}

function requireBelowLimit(open: number, limit: number): void {
  if (open < limit) return
  throw new AppError(
    'limitReached',
    `This repository has ${counted(open, 'open task')}; limits.perRepo is ${limit}.`,
    {
      data: { open, limit },
    },
  )
}

async function reuse(work: Work, input: StartInput): Promise<Made> {
  const { task } = work
  const branch = input.branch ?? input.existingBranch
  if (task.id !== input.task || (branch !== undefined && branch !== task.branch)) {
    throw new AppError('taskIdTaken', `The task ${task.id} is open already, on branch ${task.branch}.`, {
      path: task.path,
      hint: `Choose another id, or leave the branch out to go on with ${task.id}.`,
    })
  }
  requireSettled(task)
  const { task: sound, mended } = await ensureWorkspace(work)
  return { task: sound, reused: true, recreated: mended === 'recreated' }
}
