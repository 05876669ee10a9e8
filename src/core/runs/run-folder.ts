/** The folder of one run, for files that an adapter writes and its agent reads; deleted when the run ends. */
import path from 'node:path'
import type { Ports } from '../ports/index.ts'

/** Its path. The cell of the run makes the folder when an adapter asks for it. */
export function runFolder({ home }: Pick<Ports, 'home'>, run: string): string {
  return path.join(home, 'run-folders', run)
}

/** Removes the folder of a run that was killed, which could not close its cell. */
export async function clearRunFolder(ports: Pick<Ports, 'home' | 'files'>, run: string): Promise<void> {
  const folder = runFolder(ports, run)
  if ((await ports.files.readKind(folder)) !== undefined) await ports.files.remove(folder)
}
