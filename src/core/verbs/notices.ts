/** The notices of things that happened by themselves since the last command. */
import type { StoredEvent } from '../model/events.ts'
import type { Notice } from '../model/notice.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports, Records } from '../ports/index.ts'
import { findRepo } from '../tasks/repo.ts'

let reading: Promise<unknown> = Promise.resolve()

/**
 * Answers each notice once: of two calls at once in this process the second waits for the first. `isHeard` is asked only
 * when there is one; without the user it stays for the next call. Notices that need more than the records come only if
 * `ports` is given.
 */
export function readNewNotices(
  records: Records,
  dir: string,
  isHeard: () => boolean,
  ports?: Ports,
): Promise<Notice[]> {
  const answer = reading.then(() => readNext(records, dir, isHeard, ports))
  reading = answer.catch(() => {})
  return answer
}

async function readNext(
  records: Records,
  dir: string,
  isHeard: () => boolean,
  ports?: Ports,
): Promise<Notice[]> {
  const { repo } = await findRepo(records, dir)
  if (!repo) return []
  const reverts = await takeReverts(records, repo, isHeard)
  if (!ports || !isHeard()) return reverts
  const { takeOffer } = await import('../hooks/peer-notice.ts')
  return [...reverts, ...(await takeOffer(ports, repo))]
}

async function takeReverts({ store, notes }: Records, repo: Repo, isHeard: () => boolean): Promise<Notice[]> {
  const key = `told ${repo.id}`
  const told = Number((await notes.find(key)) ?? 0)
  const events = await store.readEvents({ after: told, types: ['reverted', 'revert.failed', 'hook.skipped'] })
  const found: Notice[] = []
  for (const stored of events) {
    const task = await store.findTaskByUid(stored.uid)
    const notice = task?.repo === repo.id ? findNotice(task, stored) : undefined
    if (notice) found.push(notice)
  }
  if (found.length === 0 || !isHeard()) return []
  await notes.put(key, String(events.at(-1)?.seq ?? told))
  return found
}

function findNotice({ id }: Task, { at, event }: StoredEvent): Notice | undefined {
  switch (event.type) {
    case 'revert.failed':
      return {
        at,
        task: id,
        message: `${id} could not be rejected automatically (${event.trigger}): ${event.reason}`,
      }
    case 'reverted': {
      const message = `${id} was rejected automatically (${event.trigger}): ${event.reason}`
      return { at, task: id, message, operation: event.operation }
    }
    case 'hook.skipped': {
      const message = `${event.hook} of ${id} did not run: the repository's settings name it, and you have not trusted them (offshoot trust)`
      return { at, task: id, message }
    }
    default:
      return undefined
  }
}
