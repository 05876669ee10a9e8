/** The keeper of the queue: the daemon that starts queued runs, noted in the records with its process. */
import type { Owner } from '../model/task.ts'
import type { Ports, Records } from '../ports/index.ts'

const note = 'keeper'

/** Notes this process; without it, the note is that nobody starts queued runs. */
export async function noteKeeper(
  { notes, processes }: Pick<Ports, 'notes' | 'processes'>,
  isKept: boolean,
): Promise<void> {
  await notes.put(note, isKept ? JSON.stringify(processes.self()) : '')
}

/** Whether a daemon that lives starts queued runs. */
export async function isKept({ notes, isAlive }: Pick<Records, 'notes' | 'isAlive'>): Promise<boolean> {
  const owner = await notes.find(note)
  return owner ? isAlive(JSON.parse(owner) as Owner) : false
}
