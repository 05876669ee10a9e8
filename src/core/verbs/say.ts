/** The verb say: sends a message to the agent at work, which gets it when its turn is over. */
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import { appError, AppError } from '../model/errors.ts'
import { runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'
import { append } from '../tasks/records.ts'

export interface SayInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly text: string
}

export async function say(
  ports: Ports,
  { dir, task: name, text }: SayInput,
  by: 'user' | 'token',
): Promise<Task> {
  const { task: named } = await requireTask(ports, dir, name)
  if (text.trim() === '')
    throw new AppError('wrongUsage', 'The message is empty.', { hint: `offshoot say ${named.id} "…"` })
  for (;;) {
    const { versions } = await ports.store.readPosition([named.uid])
    const task = (await ports.store.findTaskByUid(named.uid)) ?? named
    const agent = runsOf(task).find(({ exec }) => exec === undefined)
    if (!agent)
      throw new AppError('notFound', `No agent is at work in ${task.id}.`, {
        hint: `Begin a run with it: offshoot resume ${task.id} ${quoted(text)}`,
      })
    try {
      const event = { type: 'run.said', run: agent.run, text, by } as const
      return await append(ports, task.uid, event, now(ports), versions.get(task.uid))
    } catch (thrown) {
      // The log has grown, perhaps by the end of the run.
      if (appError(thrown).problem !== 'locked') throw thrown
    }
  }
}
