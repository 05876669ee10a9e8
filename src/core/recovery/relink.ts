/** Recognizes a repository that the user has moved by its mark, and updates its record and its open tasks. */
import { now } from '../base/time.ts'
import { type Place, type RepoRecord, repoRoot } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import { requireRepo } from '../tasks/repo.ts'
import { follower } from '../workspaces/moved.ts'

/** The record of the repository that `dir` is in, if its path is another one and nothing is there any more. */
export async function findMoved(
  ports: Ports,
  dir: string,
  signal?: AbortSignal,
): Promise<{ record: RepoRecord; place: Place } | undefined> {
  const place = await ports.locate(dir).catch(() => undefined)
  const mark = place && (await ports.git.findRepoMark(place, signal))
  const record = mark && (await ports.repos.findById(mark.id))
  if (!record || record.commonDir === place.commonDir) return undefined
  return (await ports.files.readKind(record.commonDir)) === undefined ? { record, place } : undefined
}

export async function relink(ports: Ports, dir: string, signal?: AbortSignal) {
  const moved = await findMoved(ports, dir, signal)
  if (!moved) return []
  const { record, place } = moved
  const [from, to] = [repoRoot(record.commonDir), repoRoot(place.commonDir)]
  const follow = follower(record.commonDir, place.commonDir)
  await requireRepo(ports, dir, signal)
  for (const task of await ports.store.readTasks({ repo: record.id, open: true })) {
    const event = { type: 'moved', to: await movedTo(ports, task, follow) } as const
    await append(ports, task.uid, event, now(ports))
  }
  return [{ name: `repository ${record.name}`, message: `it was moved from ${from} to ${to}`, hint: '' }]
}

/** The new paths of a task. Its workspace has moved only if it was inside of the repository. */
async function movedTo({ files }: Ports, task: Task, follow: (file: string) => string) {
  const there = (await files.readKind(follow(task.path))) === 'folder'
  return {
    origin: follow(task.origin),
    path: there ? follow(task.path) : task.path,
    ...(task.shadow && { shadow: { ...task.shadow, gitDir: follow(task.shadow.gitDir) } }),
  }
}
