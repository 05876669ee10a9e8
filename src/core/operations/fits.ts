/** Checks that an operation can be undone: refs, strays, HEAD, index and folders must be as the operation left them. */
import { quoted } from '../base/shell-quote.ts'
import type { Work } from '../tasks/work.ts'
import { toText } from '../model/bytes.ts'
import { conflictError, AppError } from '../model/errors.ts'
import { branchRefs } from '../model/refs.ts'
import { closeHint } from '../tasks/guards.ts'
import { isGone } from '../tasks/repo.ts'
import { requireRegistration } from '../workspaces/moved.ts'
import { otherEntries, overlaps, requireStrays } from './files.ts'
import type { Operation } from '../model/operation.ts'
import type { Ports } from '../ports/index.ts'
import { type Repo, repoRoot } from '../model/repo.ts'
import { findShadow } from './shadow.ts'

/** Does not check files, which are merged with later edits, nor a whole index, which is checked when it is staged. */
export async function requireFits(work: Work, back: Operation): Promise<void> {
  const { ports, repo } = work
  // First: the branch and the path of a new task of that id are in the way as well, and say less.
  await requireRecord(work, back)
  await requireRefs(ports, repo, back)
  await requireStrays(ports, repo, back, overlaps)
  if (back.head) await requireHead(work, back.head)
  if (back.index) await requireEntries(ports, back.index)
  if (back.workspace) await requireFolder(work, back.workspace)
}

/** A ref of a task that comes back may have its value already: if the repository was gone, the operation did not move it. */
async function requireRefs(
  ports: Pick<Ports, 'files' | 'history' | 'refs'>,
  repo: Repo,
  { refs, workspace }: Operation,
): Promise<void> {
  for (const { ref, old, new: to } of refs) {
    const now = (await ports.refs.findRef(repo.place, ref)) ?? null
    if (old === null && to !== null && now !== to && ref.startsWith(branchRefs))
      await requireCommit(ports, repo, ref, to)
    if (now === old || (workspace?.to === 'back' && now === to)) continue
    throw new AppError('conflict', `${ref} is not where the operation left it.`, {
      hint: overlaps,
      data: { conflicts: [{ path: ref, kind: 'changed' }] },
    })
  }
}

/** Throws when a ref comes back to an object that the repository has lost, because it was made anew. */
async function requireCommit(
  ports: Pick<Ports, 'files' | 'history'>,
  repo: Repo,
  ref: string,
  to: string,
): Promise<void> {
  if ((await isGone(ports, repo)) || (await ports.history.findCommit(repo.place, to)) !== undefined) return
  const where = repoRoot(repo.commonDir)
  throw new AppError('baseMissing', `${ref} cannot come back: ${to.slice(0, 10)} is not in ${where}.`, {
    path: where,
    hint: 'The repository was made anew, or lost it. offshoot ops lists the other operations.',
  })
}

/** Throws unless the checkout is on the branch that the operation left it on, and no other task works there. */
async function requireHead({ ports, repo, task }: Work, head: NonNullable<Operation['head']>) {
  const place = { ...repo.place, gitDir: head.gitDir }
  const [now, other] = [await ports.git.readHeadBranch(place), await findShadow(ports, repo, task.path)]
  if (now === head.from && (other === undefined || other.uid === task.uid)) return
  const why = other ? `${other.id} is at work there` : `it is on ${now ?? 'no branch'}`
  throw new AppError('conflict', `${task.path} is not as the operation left it: ${why}.`, {
    path: task.path,
    hint: other ? closeHint(other.id) : `Bring it back first: git switch ${quoted(head.from)}`,
    data: { conflicts: [{ path: 'HEAD', kind: 'changed' }] },
  })
}

/** Throws when the user has staged other content since, because only the index holds it. */
async function requireEntries(
  ports: Pick<Ports, 'checkouts'>,
  index: NonNullable<Operation['index']>,
): Promise<void> {
  const staged = 'moves' in index ? await otherEntries(ports, index) : []
  if (staged.length === 0) return
  throw conflictError(
    staged.map((file) => ({ path: toText(file), kind: 'changed' })),
    overlaps,
  )
}

/** Throws when the path or the registration of a folder that comes back is taken. */
async function requireFolder(work: Work, { to }: NonNullable<Operation['workspace']>): Promise<void> {
  const { ports, task } = work
  if (to !== 'back') return
  if ((await ports.files.readKind(task.path)) !== undefined) {
    throw new AppError('pathExists', `Something is in the place of the workspace: ${task.path}.`, {
      path: task.path,
    })
  }
  await requireRegistration(work)
}

/** Throws when another open task has the id of a task that comes back. */
async function requireRecord({ ports, repo, task }: Work, { record }: Operation): Promise<void> {
  if (Object.keys(record.to).length === 0) return
  const other = await ports.store.findOpenTask(repo.id, task.id)
  if (other && other.uid !== task.uid)
    throw new AppError('taskIdTaken', `A new task ${task.id} was started since, and is open.`, {
      path: other.path,
      hint: closeHint(task.id),
      data: { id: task.id, existing: other.id },
    })
}
