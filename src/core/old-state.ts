/** What an older tool, or an older version, left in the state folder: nothing of it is read, and nothing dropped. */
import path from 'node:path'
import type { Ports } from './ports.ts'

const ours: ReadonlySet<string> = new Set(['daemon.json'])
const folders: ReadonlySet<string> = new Set(['sessions', 'git-sessions'])

/** Where nobody stumbles over it, and nothing is ever taken from. */
export function asideFolder({ home, clock }: Ports): string {
  return path.join(home, 'aside', clock.now().toISOString().replaceAll(':', '-'))
}

export async function readOldState({ files, home }: Ports): Promise<string[]> {
  const names = await files.readNames(home)
  return names.filter((name) => folders.has(name) || (name.endsWith('.json') && !ours.has(name))).toSorted()
}

export async function setOldStateAside(
  ports: Ports,
): Promise<{ name: string; message: string; hint: string }[]> {
  const names = await readOldState(ports)
  if (names.length === 0) return []
  const folder = asideFolder(ports)
  await ports.files.makeFolder(folder, 0o700)
  for (const name of names) await ports.files.rename(path.join(ports.home, name), path.join(folder, name))
  return names.map((name) => ({ name: 'old state', message: `${name} is in ${folder} now`, hint: '' }))
}
