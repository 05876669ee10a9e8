/** The notice that offers to import the set-up commands of other tools. */
import { now } from '../base/time.ts'
import type { Notice } from '../model/notice.ts'
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'
import { findTaskIn } from '../tasks/repo.ts'
import { readHooks } from './hooks.ts'
import { findPeerFiles } from './peers.ts'

/** Answers the notice once per repository, if it has set-up files of other tools and no `postStart` of ours. */
export async function takeOffer(ports: Ports, { id, place: { checkout } }: Repo): Promise<Notice[]> {
  const key = `offered ${id}`
  if (checkout === null || (await ports.notes.find(key)) !== undefined) return []
  if (await findTaskIn(ports, checkout)) return []
  const [first, ...more] = await findPeerFiles(ports, checkout)
  if (first === undefined) return []
  await ports.notes.put(key, 'once')
  if ((await readHooks(ports, checkout)).some(({ hook }) => hook === 'postStart')) return []
  const files = more.length > 0 ? `${first} and ${more.length} more say` : `${first} says`
  const message = `${files} how a workspace is set up: offshoot config import imports it`
  return [{ at: now(ports), message }]
}
