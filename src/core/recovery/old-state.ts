/** Moves files of an older tool or version out of the state folder; offshoot neither reads nor deletes them. */
import path from 'node:path'
import { appError } from '../model/errors.ts'
import { asideFolder, jsonNames } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import type { Finding } from './judge.ts'

const folders: ReadonlySet<string> = new Set(['sessions', 'git-sessions'])

export async function readOldState({ files, home }: Pick<Ports, 'files' | 'home'>): Promise<string[]> {
  const names = await files.readNames(home)
  return names
    .filter((name) => folders.has(name) || (name.endsWith('.json') && !jsonNames.includes(name)))
    .toSorted()
}

type Report = Pick<Finding, 'name' | 'message' | 'hint'>

/** A file that cannot be moved is reported in `left`, and the rest goes on. */
export async function setOldStateAside(
  ports: Pick<Ports, 'clock' | 'files' | 'home'>,
): Promise<{ repaired: Report[]; left: Report[] }> {
  const [repaired, left]: [Report[], Report[]] = [[], []]
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
