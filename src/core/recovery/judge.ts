/** Judges the world that the scan has gathered: one finding with a verdict for each disagreement. Pure. */
import { counted } from '../base/counted.ts'
import path from 'node:path'
import { quoted } from '../base/shell-quote.ts'
import type { GitLock, Registration } from '../model/git.ts'
import { branchRef, isOurs, markRef, pinRef, uidOfPin } from '../model/refs.ts'
import { repoRoot } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { movedHint } from '../workspaces/moved.ts'
import type { SeenRepo, SeenTask, UnknownFolder, World } from './scan.ts'

/**
 * - `finish`, `roll back`: a dead process left a verb half-done; recovery completes it or takes it back.
 * - `recreate on next use`: a thing is missing or damaged, and the vault can make it again.
 * - `adopt`: the vault knows a task that has no record; recovery makes the record again.
 * - `quarantine`: a leftover of a closed task, whose content the vault has; recovery moves it into the trash.
 * - `report`: it is not ours, or nobody can tell. Recovery reports it and never touches it.
 */
export type Verdict = 'finish' | 'roll back' | 'recreate on next use' | 'adopt' | 'quarantine' | 'report'

/** The repair of a finding, for recovery/mend.ts. */
export type Mend =
  | { readonly do: 'settle' | 'workspace' | 'branch' | 'head' | 'pin' | 'steps'; readonly task: Task }
  | { readonly do: 'unpin' | 'quarantine'; readonly task: Task }
  | { readonly do: 'adopt' | 'vault' | 'locks' | 'mark'; readonly repo: string }

export interface Finding {
  readonly name: string
  readonly status: 'warn' | 'fail'
  readonly verdict: Verdict
  /** The disagreement. */
  readonly message: string
  /** The consequence for the user. */
  readonly why: string
  /** The command that repairs it, or what else to do. */
  readonly hint: string
  readonly mend?: Mend | undefined
  readonly orphan?: Orphan | undefined
}

/** A worktree, a folder or a record whose other half is missing. */
export interface Orphan {
  readonly repo: string
  readonly path: string
  /** `worktree`: registered with git, of no open task. `folder`: among the workspaces, of no open task. `missing`: of an open task, and gone. */
  readonly kind: 'worktree' | 'folder' | 'missing'
  readonly branch: string | null
  /** The id of the task that has it, or had it. */
  readonly task: string | null
}

/** `here` is the repository that the user is in; hints for other repositories get a `-C DIR`. */
export function judge(world: World, here?: string): Finding[] {
  const at = ({ record }: SeenRepo) => (record.id === here ? '' : ` -C ${quoted(repoRoot(record.commonDir))}`)
  const repos = new Map(world.repos.map((seen) => [seen.record.id, seen]))
  return [
    ...world.failed.map(unreadableFinding),
    ...world.unknown.flatMap(judgeUnknownVault),
    ...world.repos.flatMap((seen) => judgeRepo(seen, world, at(seen))),
    ...world.tasks.flatMap((seen) => {
      const repo = repos.get(seen.task.repo)
      return repo ? judgeTask(seen, repo, at(repo)) : []
    }),
    ...world.repos.flatMap((seen) => judgeLeftovers(seen, at(seen))),
    ...world.strays.flatMap((stray) => judgeUnknownFolder(stray, world.repos)),
  ]
}

function unreadableFinding({ what, why, hint }: World['failed'][number]): Finding {
  return {
    name: what,
    status: 'fail',
    verdict: 'report',
    message: `it could not be looked at: ${why}`,
    why: 'What cannot be seen whole is not judged, and nothing of it is changed.',
    hint: hint ?? 'Make it readable, then repeat.',
  }
}

function judgeUnknownVault({ name, repo, tasks }: World['unknown'][number]): Finding[] {
  if (tasks === 0) return []
  if (!repo)
    return [
      {
        name: `vault ${name}`,
        status: 'fail',
        verdict: 'report',
        message: `it has the steps of ${counted(tasks, 'task')}, and does not say of which repository`,
        why: 'There are no records of them either: none of these tasks is listed.',
        hint: 'offshoot repair --rebuild in that repository, which carries a mark.',
      },
    ]
  return [
    {
      name: `vault ${name}`,
      status: 'fail',
      verdict: 'adopt',
      message: `it has the steps of ${counted(tasks, 'task')} of ${repo.commonDir}, and there are no records of them`,
      why: 'The records are lost, or those of another state folder: none of these tasks is listed.',
      hint: 'offshoot repair --rebuild',
      mend: { do: 'adopt', repo: repo.id },
    },
  ]
}

function judgeRepo(seen: SeenRepo, { tasks, now }: World, at: string): Finding[] {
  const { record, vault, isThere } = seen
  const [open] = [tasks.filter(({ task }) => task.repo === record.id && isOpen(task))]
  const name = `repository ${record.name}`
  const found: Finding[] = []
  if (!isThere && open.length > 0) {
    found.push({
      name,
      status: 'warn',
      verdict: 'report',
      message: `${record.commonDir} is gone, with ${counted(open.length, 'open task')}`,
      why: 'Their steps are in the vault, but there is no repository to work with.',
      hint: `If it was moved: offshoot repair in its new place. If it was deleted: offshoot repos forget ${quoted(record.commonDir)}`,
    })
  }
  if (isThere && seen.refs.get(markRef) !== record.mark) {
    found.push({
      name,
      status: 'warn',
      verdict: 'recreate on next use',
      message: `its mark ${markRef} is gone or another one`,
      why: 'Without it the repository is not known again when it is moved.',
      hint: `offshoot repair${at}`,
      mend: { do: 'mark', repo: record.id },
    })
  }
  const steps = open.some(({ task }) => task.checkpoints > 0)
  if (vault.state === 'damaged' || (vault.state === 'missing' && steps)) {
    found.push({
      name: `vault ${record.name}`,
      status: 'fail',
      verdict: vault.state === 'damaged' ? 'recreate on next use' : 'report',
      message:
        vault.state === 'damaged'
          ? 'parts of it are missing or damaged'
          : 'it is gone, with the steps of open tasks',
      why: 'The vault holds every step and everything that undo needs.',
      hint:
        vault.state === 'damaged'
          ? `offshoot repair${at}`
          : 'Bring it back from a backup of the state folder.',
      mend: vault.state === 'damaged' ? { do: 'vault', repo: record.id } : undefined,
    })
  }
  if (vault.lost && vault.lost.length > 0) {
    const [first] = vault.lost
    found.push({
      name: `vault ${record.name}`,
      status: 'fail',
      verdict: 'report',
      message: `${counted(vault.lost.length, 'object')} of its steps cannot be found, the first ${first}`,
      why: 'These steps cannot be brought back whole, nor can what needs them be undone.',
      hint: 'Bring the vault back from a backup of the state folder. What is in the workspaces is as it was.',
    })
  }
  return [
    ...found,
    ...seen.locks.flatMap((lock) => judgeLock(seen, lock, now, at)),
    ...(vault.locks ?? []).flatMap((lock) => judgeVaultLock(seen, lock, now, at)),
    ...seen.registrations.flatMap((registration) => judgeForeignWorktree(registration, at)),
  ]
}

/** A working git holds a lock for less than this. */
const patienceMs = 60_000

export function isStale({ since }: GitLock, now: Date): boolean {
  return now.getTime() - since.getTime() >= patienceMs
}

function judgeLock({ record }: SeenRepo, lock: GitLock, now: Date, at: string): Finding[] {
  if (!isStale(lock, now)) return []
  const file = path.join(record.commonDir, lock.name)
  const left = leftLock(lock.name, file, lock, now, at)
  if (isOurs(lock.name)) return [{ ...left, mend: { do: 'locks', repo: record.id } }]
  return [{ ...left, verdict: 'report', hint: `If no git is at work there: rm ${quoted(file)}` }]
}

/** Only gits of ours work in a vault, so a stale lock there can be removed. */
function judgeVaultLock({ record }: SeenRepo, lock: GitLock, now: Date, at: string): Finding[] {
  if (!isStale(lock, now)) return []
  const left = leftLock(`${path.basename(lock.name)} of vault ${record.name}`, lock.name, lock, now, at)
  return [{ ...left, mend: { do: 'locks', repo: record.id } }]
}

function leftLock(name: string, file: string, { since }: GitLock, now: Date, at: string): Finding {
  const minutes = Math.round((now.getTime() - since.getTime()) / 60_000)
  return {
    name: `lock ${name}`,
    status: 'warn',
    verdict: 'finish',
    message: `${file} has been there for ${counted(minutes, 'minute')}`,
    why: 'A git that was killed leaves its lock, and no other git gets past it.',
    hint: `offshoot repair${at}`,
  }
}

/** A half-made worktree that is not ours; ours are judged with their tasks. */
function judgeForeignWorktree({ name, path: folder, uid, locked }: Registration, at: string): Finding[] {
  if (uid !== undefined || locked !== 'initializing') return []
  return [
    {
      name: `worktree ${name}`,
      status: 'warn',
      verdict: 'report',
      message: `git was killed while it made ${folder} (locked: initializing)`,
      why: 'Git never prunes it. It is not one of ours.',
      hint: `If no git is at work there: git${at} worktree unlock ${quoted(folder)} && git${at} worktree remove --force ${quoted(folder)}`,
    },
  ]
}

function judgeTask(
  { task, folder, moved, fault, otherBranch, isBusy }: SeenTask,
  repo: SeenRepo,
  at: string,
): Finding[] {
  const name = `task ${task.id}`
  const { vault, refs } = repo
  const repair = `offshoot repair ${task.id}${at}`
  if (task.pending && isBusy) return []
  if (task.pending) {
    const { verb, owner } = task.pending
    const back = verb === 'start' || verb === 'recreate' || (verb === 'operation' && !task.pending.staged)
    return [
      {
        name,
        status: 'warn',
        verdict: back ? 'roll back' : 'finish',
        message: `${verb} did not end (process ${owner.pid} is dead)`,
        why: 'It is half-done until then.',
        hint: 'offshoot recover',
        mend: { do: 'settle', task },
      },
    ]
  }
  const found: Finding[] = []
  const reportRecreate = (message: string, why: string, mend: Mend, orphan?: Orphan): void => {
    const verdict = 'recreate on next use'
    found.push({ name, status: 'warn', verdict, message, why, hint: repair, mend, orphan })
  }
  const lost = stepsLost(task, vault.tips.get(task.uid))
  if (vault.state === 'sound' && lost) {
    found.push({
      name,
      status: 'fail',
      verdict: 'recreate on next use',
      message: 'its last step cannot be found in the vault',
      why: 'No further step can be taken, and what was recorded cannot be brought back.',
      hint: repair,
      mend: { do: 'steps', task },
    })
  }
  if (!repo.isThere) return found
  if (folder === 'gone' && task.shadow) {
    found.push({
      name,
      status: 'warn',
      verdict: 'report',
      message: `the checkout ${task.path} that it works in is gone`,
      why: 'It is yours to bring back; what was uncommitted is in the vault.',
      hint: `Put it back. If it is gone for good: git${at} worktree add --force ${quoted(task.path)} ${quoted(task.branch)}`,
      orphan: { ...orphanOf(repo, task), kind: 'missing', branch: task.branch },
    })
  } else if (moved) {
    found.push({
      name,
      status: 'warn',
      verdict: 'report',
      message: `its workspace was moved to ${moved.path}`,
      why: 'There it is yours: no step of it is taken, and it is not cleaned away.',
      hint: movedHint(task, moved, at),
    })
  } else if (folder === 'gone') {
    const why = 'An agent cannot work in it. All that was recorded comes back from the last step.'
    const orphan = { ...orphanOf(repo, task), kind: 'missing', branch: task.branch } as const
    reportRecreate(`its workspace ${task.path} is gone`, why, { do: 'workspace', task }, orphan)
  } else if (fault !== undefined && task.shadow) {
    found.push({
      name,
      status: 'warn',
      verdict: 'report',
      message: fault,
      why: 'What is done there meanwhile is yours; no step of the task is taken.',
      hint: `git -C ${quoted(task.path)} switch ${quoted(task.branch)}`,
    })
  } else if (fault !== undefined) {
    reportRecreate(fault, 'Git does not work in it, or takes it for something else.', {
      do: 'workspace',
      task,
    })
  }
  if (!refs.has(pinRef(task.uid)))
    reportRecreate('its pin is gone', 'Nothing keeps git from collecting the commit that it started from.', {
      do: 'pin',
      task,
    })
  if (task.isolation !== 'clone' && folder === 'there' && !refs.has(branchRef(task.branch)))
    reportRecreate(`its branch ${task.branch} is gone`, 'Git has nothing to compare the work with.', {
      do: 'branch',
      task,
    })
  if (otherBranch !== undefined && folder === 'there' && fault === undefined && !moved)
    reportRecreate(
      `its workspace is on the branch ${otherBranch}, not on ${task.branch}`,
      `Its steps are published on ${task.branch} all the same, and git in the workspace does not know of them.`,
      { do: 'head', task },
    )
  return found
}

/** Whether steps are missing in the vault. Step 0 is made with the first step, so a task without steps may have none. */
function stepsLost(task: Task, tip: boolean | undefined): boolean {
  return tip === undefined ? task.checkpoints > 0 : !tip
}

/** Steps, pins and worktrees of tasks that are closed or have no record. */
function judgeLeftovers(repo: SeenRepo, at: string): Finding[] {
  const { registrations, refs, vault, known, lost, record } = repo
  const uids = new Set(vault.tips.keys())
  const found: Finding[] = []
  for (const uid of uids) {
    if (known.has(uid)) continue
    found.push({
      name: `task ${lost.get(uid) ?? uid}`,
      status: 'warn',
      verdict: 'adopt',
      message: 'the vault has its steps, and there is no record of it',
      why: 'It is not listed, and cannot be worked with.',
      hint: 'offshoot repair --rebuild',
      mend: { do: 'adopt', repo: record.id },
    })
  }
  for (const ref of refs.keys()) {
    const uid = uidOfPin(ref)
    if (uid === undefined || (uids.has(uid) && !known.has(uid))) continue
    const task = known.get(uid)
    if (task && (isOpen(task) || task.pending)) continue
    found.push(pinFinding(ref, task, at))
  }
  const open = new Set(Array.from(known.values(), (task) => (isOpen(task) ? task.path : '')))
  for (const registration of registrations) {
    const { uid } = registration
    if (uid === undefined || (uids.has(uid) && !known.has(uid))) continue
    const task = known.get(uid)
    if (task && (isOpen(task) || task.pending)) continue
    const orphan = { ...orphanOf(repo, task), ...registered(registration) }
    const finding = worktreeFinding(registration, open.has(registration.path) ? undefined : task, at)
    found.push({ ...finding, orphan })
  }
  return found
}

function orphanOf({ record }: SeenRepo, task: Task | undefined): Pick<Orphan, 'path' | 'repo' | 'task'> {
  return { repo: record.id, path: task?.path ?? '', task: task?.id ?? null }
}

function registered({ path: folder, branch }: Registration): Pick<Orphan, 'path' | 'kind' | 'branch'> {
  return { path: folder, kind: 'worktree', branch }
}

function pinFinding(ref: string, task: Task | undefined, at: string): Finding {
  const common = { name: `pin ${ref}`, status: 'warn' } as const
  if (task)
    return {
      ...common,
      verdict: 'finish',
      message: `it is left of ${task.id}, which is closed`,
      why: 'It keeps an undo from bringing the task back.',
      hint: 'offshoot recover',
      mend: { do: 'unpin', task },
    }
  return {
    ...common,
    verdict: 'report',
    message: 'no task of this state folder has it',
    why: 'It keeps a commit from being collected, perhaps for an offshoot with another state folder.',
    hint: `If there is none: git${at} update-ref -d ${quoted(ref)}`,
  }
}

function worktreeFinding({ name, path: folder }: Registration, task: Task | undefined, at: string): Finding {
  const common = { name: `worktree ${name}`, status: 'warn' } as const
  if (task && task.path === folder && task.isolation === 'worktree')
    return {
      ...common,
      verdict: 'quarantine',
      message: `it is left of ${task.id}, which is closed`,
      why: 'It takes up space, and its branch cannot be used elsewhere.',
      hint: 'offshoot recover moves it into the trash, if the vault has all of it.',
      mend: { do: 'quarantine', task },
    }
  return {
    ...common,
    verdict: 'report',
    message: `${folder} carries our mark, and no task of this state folder has it`,
    why: 'It may be that of an offshoot with another state folder.',
    hint: `If there is none: git${at} worktree remove ${quoted(folder)}`,
  }
}

function judgeUnknownFolder({ folder, repo, task }: UnknownFolder, repos: readonly SeenRepo[]): Finding[] {
  // A folder with a registration of ours is judged as a worktree.
  if (repos.some(({ registrations }) => registrations.some(({ uid, path: at }) => uid && at === folder)))
    return []
  const known = repos.flatMap(({ registrations }) => registrations).find(({ path: at }) => at === folder)
  const found = known ? registered(known) : ({ path: folder, kind: 'folder', branch: null } as const)
  const common = {
    name: `folder ${path.basename(folder)}`,
    status: 'warn',
    verdict: 'report',
    orphan: { ...found, repo, task: task?.id ?? null },
  } as const
  if (task)
    return [
      {
        ...common,
        message: `${folder} is where the workspace of ${task.id} was, which is closed`,
        why: 'It carries no mark of ours, so it is left alone. While it is there, undo cannot bring the task back (WT_001).',
        hint: 'Look into it, and move it away.',
      },
    ]
  return [
    {
      ...common,
      message: `${folder} belongs to no task`,
      why: 'It lies among the workspaces and carries no mark of ours, so it is left alone.',
      hint: 'Look into it, and move it away if nobody needs it.',
    },
  ]
}
