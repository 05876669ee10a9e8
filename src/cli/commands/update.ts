import { type Answer, type Context, flag, text } from '../command.ts'
import { printable } from '../output.ts'
import { conflictsOption } from './accept.ts'

export async function update(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const done = await context.call('task.update', {
    repo: dir,
    task: positionals[0],
    onto: text(values, 'onto'),
    dirty: flag(values, 'dirty'),
    conflicts: conflictsOption(values),
  })
  const { task, checkpoint, conflicts } = done
  const lines = [
    checkpoint
      ? `${task.id} is up to date, as of step ${checkpoint.n}`
      : `There was nothing new for ${task.id}`,
  ]
  for (const { path, kind } of conflicts) lines.push(`  to be solved in ${task.path}: ${path} (${kind})`)
  return { json: { ...done }, text: printable(lines.join('\n')) }
}
