/** Messages that the user sends to an agent at work: kept in the log, and given to it when its turn is over. */
import { now } from '../base/time.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import type { ActiveRun } from './run.ts'

/** The messages that no agent has been given yet, oldest first. */
export async function readUnheard({ ports, task: { uid } }: Work): Promise<string[]> {
  const texts: string[] = []
  let heard = 0
  for (const { event } of await ports.store.readEvents({ uid, types: ['run.said', 'run.heard'] })) {
    if (event.type === 'run.said') texts.push(event.text)
    if (event.type === 'run.heard') heard += event.count
  }
  return texts.slice(heard)
}

/** Notes that the agent was given the oldest `count` messages. Before this a kill has the next run give them again. */
export async function noteHeard({ ports, task, id }: ActiveRun, count: number): Promise<void> {
  if (count > 0) await append(ports, task.uid, { type: 'run.heard', run: id, count }, now(ports))
}

/** The prompt of a turn: what was said meanwhile, each message by itself, then the prompt of the run. */
export function promptOf(texts: readonly string[], prompt?: string): string {
  return [...texts, ...(prompt === undefined ? [] : [prompt])].join('\n\n')
}
