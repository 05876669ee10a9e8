/** The folder of one run, for files that an adapter writes and its agent reads; deleted when the run ends. */
import { runFolder } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'

/** Removes the folder of a run that was killed, which could not close its cell. */
export async function clearRunFolder(
  { home, files }: Pick<Ports, 'home' | 'files'>,
  run: string,
): Promise<void> {
  const folder = runFolder(home, run)
  if ((await files.readKind(folder)) !== undefined) await files.remove(folder)
}
