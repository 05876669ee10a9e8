/** What an older tool, or an older version, left in the state folder: nothing of it is read, and nothing dropped. */
import path from 'node:path'
import { appError } from '../model/errors.ts'
import { asideFolder } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import type { Finding } from './judge.ts'

const ours: ReadonlySet<string> = new Set(['daemon.json'])
const folders: ReadonlySet<string> = new Set(['sessions', 'git-sessions'])

export async function readOldState({ files, home }: Ports): Promise<string[]> {
  const names = await files.readNames(home)
  return names.filter((name) => folders.has(name) || (name.endsWith('.json') && !ours.has(name))).toSorted()
}

type Told = Pick<Finding, 'name' | 'message' | 'hint'>

/** What cannot be moved stays, and keeps nothing else from being repaired. */
export async function setOldStateAside(ports: Ports): Promise<{ repaired: Told[]; left: Told[] }> {
  const [repaired, left]: [Told[], Told[]] = [[], []]
  const folder = asideFolder(ports.home, ports.clock.now())
  for (const name of await readOldState(ports)) {
    try {
      await ports.files.makeFolder(folder, 0o700)
      await ports.files.rename(path.join(ports.home, name), path.join(folder, name))
      repaired.push({ name: 'old state', message: `${name} is in ${folder} now`, hint: '' })
    } catch (thrown) {
      const { message, hint } = appError(thrown)
      left.push({ name: 'old state', message: `${name} stays: ${message}`, hint })
    }
  }
  return { repaired, left }
}
