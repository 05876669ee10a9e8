/** Repairs what the scan found. Each repair checks again under the lock, because the state may have changed since. */
import type { Work } from '../tasks/work.ts'
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import type { RefChange } from '../model/git.ts'
import { branchRef, isOurs, pinRef } from '../model/refs.ts'
import { type Repo, repoLock, repoRoot } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { placeOf } from '../landing/follow.ts'
import { findUnkeptHead } from '../operations/close.ts'
import type { Ports } from '../ports/index.ts'
import { publishSteps } from '../steps/publish.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { repoAt, requireRepo } from '../tasks/repo.ts'
import { freeTrash, trashFolder } from '../workspaces/make.ts'
import { otherBranch } from '../workspaces/on-branch.ts'
import { branchTip, ensureWorkspace, requireBaseCommit } from '../workspaces/recreate.ts'
import { isStale, type Mend } from './judge.ts'
import { adopt } from './rebuild.ts'
import { settle } from './settle.ts'

/** Throws when the repair is not possible; then nothing was changed. */
export async function mend(ports: Ports, how: Mend, signal?: AbortSignal): Promise<void> {
  if ('task' in how) return mendTask(ports, how.do, how.task, signal)
  if (how.do === 'adopt') return requireAdopted(ports, how.repo, signal)
  const repo = await requireKnown(ports, how.repo)
  switch (how.do) {
    case 'vault':
      return ports.care.remake(repo)
    case 'locks':
      return ports.locks.hold(repoLock(repo.place), { verb: 'repair', signal }, () => clearLocks(ports, repo))
    case 'mark':
      await requireRepo(ports, repo.commonDir, signal)
  }
}

async function requireAdopted(ports: Ports, repo: string, signal?: AbortSignal): Promise<void> {
  const [left] = (await adopt(ports, repo, signal)).left
  if (left) throw new AppError('failed', `${left.what}: ${left.why}`)
}

async function requireKnown(ports: Pick<Ports, 'locate' | 'repos'>, id: string): Promise<Repo> {
  const record = await ports.repos.findById(id)
  if (record) return repoAt(ports, record)
  throw new AppError('failed', 'Its repository is not known.')
}

/** Removes stale locks on refs below `refs/offshoot/` and in the vault, which only offshoot writes. */
async function clearLocks({ refs, care, files, clock }: Ports, repo: Repo): Promise<void> {
  const { place } = repo
  const left = (await refs.readLocks(place)).filter((lock) => isStale(lock, clock.now()))
  const locked = left.map(({ name }) => name.replace(/\.lock$/, ''))
  await refs.clearRefLocks(place, locked.filter(isOurs))
  const { locks = [] } = await care.inspect(repo, false)
  for (const lock of locks) if (isStale(lock, clock.now())) await files.remove(lock.name)
}

type TaskMend = Extract<Mend, { task: Task }>['do']

async function mendTask(ports: Ports, what: TaskMend, seen: Task, signal?: AbortSignal): Promise<void> {
  if (what === 'settle') {
    const { verdict, why } = await settle(ports, seen)
    if (verdict === 'left alone') throw new AppError('locked', why)
    return
  }
  const repo = await requireKnown(ports, seen.repo)
  await holdTask(ports, seen, { verb: 'repair', signal }, async () => {
    const mended = await mendHeld(ports, repo, what, seen, signal)
    if (mended !== undefined) await append(ports, seen.uid, { type: 'mended', what: mended }, now(ports))
  })
}

/** The text for the log; undefined when there was nothing left to repair, or the log has an event of it already. */
async function mendHeld(
  ports: Ports,
  repo: Repo,
  what: Exclude<TaskMend, 'settle'>,
  seen: Task,
  signal?: AbortSignal,
): Promise<string | undefined> {
  switch (what) {
    case 'workspace':
      await ensureWorkspace({ ports, repo, task: await requireOpen(ports, seen), signal })
      return undefined
    case 'branch':
      return mendBranch({ ports, repo, task: await requireOpen(ports, seen), signal })
    case 'head':
      return mendHead({ ports, repo, task: await requireOpen(ports, seen), signal })
    case 'pin':
      return mendPin({ ports, repo, task: await requireOpen(ports, seen), signal })
    case 'steps':
      return mendSteps({ ports, repo, task: await requireOpen(ports, seen) })
    case 'unpin':
      return unpin({ ports, repo, task: await requireClosed(ports, seen) })
    case 'quarantine':
      return quarantine({ ports, repo, task: await requireClosed(ports, seen), signal })
  }
}

async function requireClosed(ports: Pick<Ports, 'store'>, seen: Task): Promise<Task> {
  const task = await ports.store.findTaskByUid(seen.uid)
  if (task && !isOpen(task) && !task.pending) return task
  throw new AppError('locked', `${seen.id} is in use again.`)
}

/** If `git gc` deleted published commits, the next publish writes them again from the vault. */
async function mendBranch(work: Work): Promise<string | undefined> {
  const { ports, repo, task, signal } = work
  const { refs } = ports
  await requireBaseCommit(work)
  const tip = await branchTip(work)
  const ref = branchRef(task.branch)
  if (!task.adopted) await refs.clearBrokenRef(repo.place, ref)
  if ((await refs.findRef(repo.place, ref, signal)) !== undefined) return undefined
  return requireChanged(refs, repo, { ref, old: null, new: tip }, signal)
}

/** Puts the worktree back onto the branch of the task. The other branch stays, and publishing joins what it has. */
async function mendHead(work: Work): Promise<string | undefined> {
  const { ports, repo, signal } = work
  const task = await publishSteps(work)
  const worktree = (await ports.git.readWorktrees(repo.place)).find(({ path }) => path === task.path)
  const other = worktree && otherBranch(task, [worktree])
  if (!worktree || other === undefined) return undefined
  const place = placeOf(repo, worktree)
  const [tip, head] = [
    await ports.refs.findRef(repo.place, branchRef(task.branch), signal),
    await ports.refs.findRef(repo.place, branchRef(other), signal),
  ]
  if (
    tip === undefined ||
    head === undefined ||
    !(await ports.history.isAncestor(repo.place, head, tip, signal))
  )
    throw new AppError('branchInUse', `${other} has commits that ${task.branch} has not.`, {
      path: task.path,
      hint: joinHint(task),
    })
  await ports.git.moveHead(place, task.branch, 'offshoot: repair')
  // The index of the workspace follows its branch.
  await publishSteps({ ...work, task })
  return `put the workspace back onto ${task.branch}; ${other} stays`
}

/** The last step has the files of the workspace, so only the history is joined, and no file is touched. */
function joinHint({ path, branch }: Task): string {
  const [at, name] = [`git -C ${quoted(path)}`, quoted(branch)]
  return `Join them, then repeat: ${at} merge -s ours ${name} && ${at} branch --force ${name}`
}

async function mendPin(work: Work): Promise<string> {
  const {
    ports: { refs },
    repo,
    task,
    signal,
  } = work
  await requireBaseCommit(work)
  await refs.clearBrokenRef(repo.place, pinRef(task.uid))
  const old = (await refs.findRef(repo.place, pinRef(task.uid), signal)) ?? null
  return requireChanged(refs, repo, { ref: pinRef(task.uid), old, new: task.base.commit }, signal)
}

async function unpin({ ports: { refs }, repo, task }: Work): Promise<string | undefined> {
  const old = await refs.findRef(repo.place, pinRef(task.uid))
  if (old === undefined) return undefined
  return requireChanged(refs, repo, { ref: pinRef(task.uid), old, new: null })
}

async function requireChanged(
  refs: Ports['refs'],
  repo: Repo,
  change: RefChange,
  signal?: AbortSignal,
): Promise<string> {
  if (await refs.changeRefs(repo.place, [change], 'offshoot: repair', signal))
    return change.new === null ? `deleted ${change.ref}` : `set ${change.ref} to ${change.new}`
  throw new AppError('locked', `${change.ref} moved meanwhile.`)
}

/** Finds the lost tip of the steps by the commit in the log of events. */
async function mendSteps({ ports, repo, task }: Work): Promise<string> {
  const steps = (await ports.store.readEvents({ uid: task.uid, types: ['checkpoint'] })).map(
    ({ event }) => event,
  )
  const last = steps.findLast((event) => event.type === 'checkpoint' && event.n === task.checkpoints)
  const commit = last?.type === 'checkpoint' ? last.commit : undefined
  if (await ports.steps.mendTip(repo, task, commit)) return `found step ${task.checkpoints} again`
  throw new AppError('notFound', `Step ${task.checkpoints} of ${task.id} is not in the vault any more.`, {
    hint: 'Bring the vault back from a backup of the state folder. The workspace itself is as it was.',
  })
}

/** Moves the leftover of a closed task into the trash. Throws when it holds files that no step has. */
async function quarantine(work: Work): Promise<string> {
  const { ports, repo, task, signal } = work
  if ((await ports.files.readKind(task.path)) !== undefined) {
    const dirt = await ports.steps.readDirt(repo, task, signal)
    if (dirt.length > 0)
      throw new AppError('uncommittedChanges', `${task.path} holds what no step has.`, {
        path: task.path,
        hint: `Look into it. If nobody needs it: git -C ${quoted(repoRoot(repo.commonDir))} worktree remove --force ${quoted(task.path)}`,
      })
  }
  // A detached HEAD may be all that keeps a commit from `git gc`, and the trash would take it away.
  const head = await findUnkeptHead(work)
  if (head !== undefined)
    throw new AppError(
      'uncommittedChanges',
      `${task.path} stands on the commit ${head}, which no branch has.`,
      {
        path: task.path,
        hint: `git -C ${quoted(task.path)} switch --create ${quoted(`${task.id}-kept`)} keeps it.`,
      },
    )
  const trash = await freeTrash(ports, task.path)
  await trashFolder(work, trash)
  return `moved ${task.path} into ${trash}`
}
