/** Which tasks conflict once another one has landed, for the preview of that landing. */
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { attempt } from './attempts.ts'
import type { LaterConflict } from './forecast.ts'
import { afterLanding } from './grounds.ts'
import { withMemory } from './make-forecast.ts'
import type { Offer } from './offer.ts'
import { readOfferedTasks, readOpen } from './offered-tasks.ts'
import { sharedPaths } from './overlap.ts'

/** Which other tasks conflict once this offer has landed, although they would land now. */
export async function conflictsAfterwards(
  ports: Ports,
  repo: Repo,
  { task, offer }: { readonly task: Task; readonly offer: Offer },
  signal?: AbortSignal,
): Promise<LaterConflict[]> {
  const open = await readOpen(ports, repo)
  const rest = open.filter(({ uid, checkpoints }) => uid !== task.uid && checkpoints > 0)
  if (rest.length === 0 || task.shadow) return []
  return withMemory({ ports, repo, task, signal }, async (trial) => {
    const { offered } = await readOfferedTasks(trial, repo, rest, open)
    const checkout = repo.place.checkout ?? task.origin
    const changes = await trial.contents.compare(repo, offer.base, offer.theirs)
    const own = { task, repo, checkout, offer, changes, unsolved: [] }
    const rivals = offered.filter(
      (other) => other.checkout === checkout && sharedPaths(other.changes.keys(), changes.keys()).length > 0,
    )
    if (rivals.length === 0) return []
    const { conflicts: alone, moved } = await attempt(trial, own)
    if (alone.length > 0) return []
    const after = afterLanding(trial, repo, checkout, moved)
    const tried = await trial.runAll(
      rivals.map((rival) => async () => {
        if (rival.blocked !== undefined || rival.unsolved.length > 0) return []
        if ((await attempt(trial, rival)).conflicts.length > 0) return []
        const { conflicts } = await attempt(after, rival)
        return conflicts.length > 0 ? [{ task: rival.task.id, conflicts }] : []
      }),
    )
    return tried.flat()
  })
}
