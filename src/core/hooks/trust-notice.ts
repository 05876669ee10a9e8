/** The notice that settings of the repository wait for the user's trust. */
import { createHash } from 'node:crypto'
import { now } from '../base/time.ts'
import type { Notice } from '../model/notice.ts'
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'

/** Answers the notice once, and again when others wait. */
export async function takeWaiting(ports: Ports, { id, place: { checkout } }: Repo): Promise<Notice[]> {
  const settings = await ports.settings.readWithOrigin(checkout).catch(() => [])
  const waiting = settings.filter((setting) => setting.waiting !== undefined)
  if (waiting.length === 0) return []
  const values = waiting.map(({ key, waiting: value }) => [key, value])
  const state = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  const key = `waiting ${id}`
  if ((await ports.notes.find(key)) === state) return []
  await ports.notes.put(key, state)
  const keys = waiting.map((setting) => setting.key)
  const named =
    keys.length > 3 ? `${keys.slice(0, 3).join(', ')} and ${keys.length - 3} more` : keys.join(', ')
  const message = `.offshoot.yaml sets ${named}, which ${keys.length > 1 ? 'do not count until you trust them' : 'does not count until you trust it'}: offshoot trust`
  return [{ at: now(ports), message }]
}
