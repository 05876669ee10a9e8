/** Starts a task: makes it with its branch and workspace, or goes on with the open one of that id. */
import { rejectTask } from '../closing/close-task.ts'
import { type HookRun, runTaskHook } from '../hooks/hooks.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError } from '../model/errors.ts'
import { requireBranchName, requireTaskId, taskIdFrom } from '../model/names.ts'
import type { OnProgress } from '../model/progress.ts'
import { redacted } from '../model/redact.ts'
import type { Repo } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { taskLock } from '../model/task.ts'
import { findShadow, requireShadowable } from '../operations/shadow.ts'
import type { Ports } from '../ports/index.ts'
import { requireSettled } from '../tasks/guards.ts'
import { requireRepo } from '../tasks/repo.ts'
import type { Work } from '../tasks/work.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'
import { type Made, makeTask } from './make-task.ts'
import { type PlanInput, planTask } from './plan-task.ts'

export interface StartInput extends Omit<PlanInput, 'task'> {
  readonly task?: string | undefined
  /** Starts from the checkout as it is, with uncommitted changes. */
  readonly dirty?: boolean | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
  readonly onProgress?: OnProgress | undefined
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
export async function startTask(ports: Ports, asked: StartInput, signal?: AbortSignal): Promise<Started> {
  // The title becomes part of id, branch and commits, so secrets are masked first.
  const input = { ...asked, title: redacted(asked.title ?? '') }
  requireNames(input)
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
      const made = await makeTask({ ports, repo, task, signal }, settings, input)
      return { ...made, reused: false, recreated: false }
    },
  )
  if (started.reused || started.task.shadow) return { ...started, repo }
  // Without the lock, because a hook may call offshoot.
  const { onOutput } = input
  const setup = await runTaskHook(ports, repo, started.task, 'postStart', { onOutput }, signal)
  return { ...started, repo, setup }
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
      hint: `Accept or reject it first, or set autoRevert.newTask: true.`,
    })
  }
  const auto = { trigger: 'new task', reason: `${id} was started in its checkout` } as const
  if (other) await rejectTask({ ports, repo, task: other, signal }, { auto })
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
  const { task: sound, mended } = await ensureWorkspace(work)
  return { task: sound, reused: true, recreated: mended === 'recreated' }
}
