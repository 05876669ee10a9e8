/** Messages that the user sends to an agent at work: kept in the log, and given to it when its turn is over. */
import { now } from '../base/time.ts'
import { append } from '../tasks/records.ts'
import type { ActiveRun } from './run.ts'

/** The messages that no agent has been given yet, oldest first; of this run alone where it goes on with no earlier one. */
export async function readUnheard({ ports, task: { uid }, id }: ActiveRun, own: boolean): Promise<string[]> {
  const unheard: { readonly run: string; readonly text: string }[] = []
  for (const { event } of await ports.store.readEvents({ uid, types: ['run.said', 'run.heard'] })) {
    if (event.type === 'run.said') unheard.push(event)
    if (event.type !== 'run.heard') continue
    for (let n = 0; n < event.count; n++) {
      const at = event.own ? unheard.findIndex(({ run }) => run === event.run) : 0
      if (at >= 0) unheard.splice(at, 1)
    }
  }
  return unheard.filter(({ run }) => !own || run === id).map(({ text }) => text)
}

/** Notes that the agent was given the oldest `count` of them. Before this a kill has the next run give them again. */
export async function noteHeard({ ports, task, id }: ActiveRun, count: number, own: boolean): Promise<void> {
  const event = { type: 'run.heard', run: id, count, ...(own && { own }) } as const
  if (count > 0) await append(ports, task.uid, event, now(ports))
}

/** The prompt of a turn: what was said meanwhile, each message by itself, then the prompt of the run. */
export function promptOf(texts: readonly string[], prompt?: string): string {
  return [...texts, ...(prompt === undefined ? [] : [prompt])].join('\n\n')
}
