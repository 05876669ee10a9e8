/** Starts a task: makes it with its branch and workspace, or goes on with the open one of that id. */
import { isBelow } from '../base/below.ts'
import type { Watch } from '../base/watch.ts'
import { rejectTask } from '../closing/close-task.ts'
import { type HookRun, runTaskHook } from '../hooks/hooks.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError } from '../model/errors.ts'
import { requireBranchName, requireTaskId, taskIdFrom } from '../model/names.ts'
import { redacted } from '../model/redact.ts'
import type { Repo } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { taskLock } from '../model/task.ts'
import { findShadow, requireShadowable } from '../operations/shadow.ts'
import type { Ports } from '../ports/index.ts'
import { closeHint, requireEnabled, requireSettled } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { requireRepo } from '../tasks/repo.ts'
import type { Work } from '../tasks/work.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'
import { type Made, makeTask } from './make-task.ts'
import { requireStartOptions } from './options.ts'
import { baseAt, type PlanInput, planTask } from './plan-task.ts'

export interface StartInput extends Omit<PlanInput, 'task'> {
  readonly task?: string | undefined
  /** Starts from the checkout as it is, with uncommitted changes. */
  readonly dirty?: boolean | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
}

export interface Started extends Made {
  readonly repo: Repo
  /** The task was open already. */
  readonly reused: boolean
  /** Its folder was gone and was made again. */
  readonly recreated: boolean
  /** How the `postStart` hook ended; undefined when there is none. */
  readonly setup?: HookRun | undefined
}

/** Makes the task, its branch and its workspace; or answers the open task of that id. */
export async function startTask(
  ports: Ports,
  asked: StartInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Started> {
  requireStartOptions(asked)
  // The title becomes part of id, branch and commits, so secrets are masked first.
  const input = { ...asked, title: redacted(asked.title ?? '') }
  requireNames(input)
  const repo = await requireRepo(ports, input.dir, signal)
  const settings = await ports.settings.read(repo.place.checkout)
  requireEnabled(settings)
  const uid = ports.ids.uid()
  const id = input.task ?? taskIdFrom(input.title, uid)
  const waitMs = settings.lock.waitSeconds * 1000
  const started = await ports.locks.hold(
    taskLock(repo.id, id),
    { verb: 'start', waitMs, signal },
    async () => {
      const open = await ports.store.findOpenTask(repo.id, id)
      if (open)
        return reuse(
          { ports, repo, task: open, signal },
          { ...input, task: id, title: asked.task && input.title },
        )
      if (input.isolation === 'branch') await vacateCheckout(ports, repo, settings, id, signal)
      const task = await planTask(ports, repo, settings, { ...input, task: id }, uid, signal)
      const made = await makeTask({ ports, repo, task, signal, watch }, settings, input)
      return { ...made, reused: false, recreated: false }
    },
  )
  if (started.reused || started.task.shadow) return { ...started, repo }
  // Without the lock, because a hook may call offshoot.
  const { onOutput } = input
  const { task } = started
  const hook = runTaskHook(ports, repo, task, 'postStart', { onOutput }, signal)
  const setup = await hook.catch(async (thrown: unknown) => {
    await keepSetup({ ports, repo, task }).catch(() => {})
    throw thrown
  })
  if (setup) await keepSetup({ ports, repo, task, signal })
  return { ...started, repo, setup }
}

/** What `postStart` wrote, also one that failed, is part of step 0: it is not the agent's work, and never lands. */
function keepSetup({ ports, repo, task: made, signal }: Work): Promise<unknown> {
  return holdTask(ports, made, { verb: 'start', signal }, async () => {
    const task = (await ports.store.findTaskByUid(made.uid)) ?? made
    // Once a run has begun, what is there may be the agent's work, which must not become step 0.
    if (task.runs === 0) await ports.seeding.seedSetup(repo, task, signal)
  })
}

function requireNames({ task, branch, existingBranch }: StartInput): void {
  if (task !== undefined) requireTaskId(task)
  if (branch !== undefined) requireBranchName(branch)
  if (existingBranch !== undefined) requireBranchName(existingBranch)
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
      hint: `${closeHint(other.id)} Or set autoRevert.newTask: true.`,
    })
  }
  if (other) {
    const reason = `${id} was started in its checkout, and has to be closed before ${other.id} can come back`
    await rejectTask({ ports, repo, task: other, signal }, { auto: { trigger: 'new task', reason } })
  }
  await requireShadowable(ports, repo)
}

async function reuse(work: Work, input: StartInput): Promise<Omit<Started, 'repo'>> {
  const { task } = work
  const branch = input.branch ?? input.existingBranch
  if (task.id !== input.task || (branch !== undefined && branch !== task.branch)) {
    throw new AppError('taskIdTaken', `The task ${task.id} is open already, on branch ${task.branch}.`, {
      path: task.path,
      hint: `Choose another id, or leave the branch out to go on with ${task.id}.`,
    })
  }
  requireSettled(task)
  await requireAgreement(work, input)
  const { task: sound, mended } = await ensureWorkspace(work)
  return { task: sound, reused: true, recreated: mended === 'recreated' }
}

/** Throws when an option asks for something that the open task is not: it was made once, and is not made again. */
async function requireAgreement(work: Work, input: StartInput): Promise<void> {
  const { id, base, path: folder, isolation } = work.task
  const differs = await whatDiffers(work, input)
  if (differs === undefined) return
  const made = `from ${base.branch ?? 'commit'} ${base.commit.slice(0, 10)}, isolation ${isolation}`
  const instead = differs === '--dirty' ? `offshoot update ${id} --dirty brings your changes into it. ` : ''
  throw new AppError('taskIdTaken', `The task ${id} is open already (${made}): ${differs} comes too late.`, {
    path: folder,
    hint: `${instead}Leave ${differs} out to go on with ${id}, choose another id, or give it up first: offshoot reject ${id}`,
    data: { id, existing: id },
  })
}

/** The option that does not agree with the record of the task. */
async function whatDiffers(
  { ports, repo, task, signal }: Work,
  input: StartInput,
): Promise<string | undefined> {
  const { from, isolation, title, base, dirty } = input
  if (isolation !== undefined && isolation !== task.isolation) return `--isolation ${isolation}`
  if (from !== undefined && from !== task.base.branch) {
    const commit = await ports.history.findCommit(repo.place, from, signal)
    if (commit !== task.base.commit) return `--from ${from}`
  }
  // Siblings are given their common prompt again when they are run again.
  if (title && title !== task.title && input.group === undefined) return '--title'
  if (base !== undefined && !task.shadow) {
    const folder = await ports.files.readRealPath(baseAt(ports, repo, base))
    if (!isBelow(task.path, folder)) return `--worktree-dir ${base}`
  }
  if (!dirty || task.shadow) return undefined
  const committed = await ports.publishing.readTree(repo, task.base.commit)
  return (await ports.seeding.readStart(repo, task, 'given', signal)) === committed ? '--dirty' : undefined
}
