/** Notices that a checkout or a target branch has changed since a forecast was made, by the times of files; starts no process. */
import path from 'node:path'
import type { Repo } from '../model/repo.ts'
import { branchRef } from '../model/refs.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'

/** Who changes more files than these is told of a change by the index, or by the next step. */
const mostFiles = 4_000

/** The times of files, in milliseconds; undefined where there is no file. */
export type Times = ReadonlyMap<string, number | undefined>

type Needs = Pick<Ports, 'files' | 'locate'>

/** The files whose times tell of a change: those of the forecast, HEAD and index of each checkout, and the refs of the targets. */
export async function watchedPlaces(
  ports: Needs,
  { place: { commonDir } }: Repo,
  tasks: readonly Task[],
  files: readonly string[],
): Promise<string[]> {
  const origins = new Set(tasks.map(({ origin }) => origin))
  const gitDirs = new Set([commonDir])
  for (const origin of origins) gitDirs.add((await ports.locate(origin)).gitDir)
  const branches = new Set(tasks.flatMap(({ base }) => base.branch ?? []))
  return [
    path.join(commonDir, 'packed-refs'),
    ...Array.from(branches, (branch) => path.join(commonDir, branchRef(branch))),
    ...Array.from(gitDirs).flatMap((gitDir) => ['HEAD', 'index'].map((name) => path.join(gitDir, name))),
    ...files.slice(0, mostFiles),
  ]
}

export async function readTimes({ files }: Pick<Ports, 'files'>, places: readonly string[]): Promise<Times> {
  const times = new Map<string, number | undefined>()
  for (const place of places) times.set(place, (await files.readTime(place))?.getTime())
  return times
}

/** Whether one of the places is otherwise than it was. */
export function haveMoved(before: Times, now: Times): boolean {
  return Array.from(now).some(([place, time]) => before.get(place) !== time)
}

/** File systems tell the time of the last tick of the kernel. */
const tickMs = 20

/** Whether one of the places may have been written between these moments; a file may also have a time that is still to come. */
export function areWritten(times: Times, from: Date, to: Date): boolean {
  const [first, last] = [from.getTime() - tickMs, to.getTime()]
  return Array.from(times.values()).some((time) => time !== undefined && time >= first && time <= last)
}
