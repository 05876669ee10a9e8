import { type Answer, choice, type Context, flag, text } from '../command.ts'
import { printable } from '../output.ts'

export async function update(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const done = await context.call('task.update', {
    repo: dir,
    task: positionals[0],
    onto: text(values, 'onto'),
    dirty: flag(values, 'dirty'),
    conflicts: choice(values, 'conflicts', ['fail', 'markers']),
  })
  const { task, checkpoint, conflicts } = done
  const lines = [
    checkpoint ? `Updated ${task.id}; that is step ${checkpoint.n}` : `There was nothing new for ${task.id}`,
  ]
  for (const { path, kind } of conflicts) lines.push(`  to be solved in ${task.path}: ${path} (${kind})`)
  return { json: { ...done }, text: printable(lines.join('\n')) }
}
