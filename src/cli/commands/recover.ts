/** `recover`: finishes or rolls back verbs whose process died. */
import type { Answer, Context } from '../command.ts'
import { table } from '../output.ts'

export async function recover(context: Context): Promise<Answer> {
  const { recovered, reported } = await context.call('system.recover', {})
  const rows = [
    ...recovered.map(({ task, verdict, why }) => [task, verdict, why]),
    ...reported.map(({ name, message, hint }) => [name, 'left to you', `${message} (${hint})`]),
  ]
  return {
    json: { recovered, reported },
    text: rows.length === 0 ? 'Nothing to recover.' : await table(rows),
  }
}
