/** `update`: merges the target branch into the workspace. */
import { type Answer, choice, type Context, flag, text } from '../command.ts'
import { printableLines } from '../output.ts'

export async function update(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const done = await context.call('task.update', {
    repo: dir,
    task: positionals[0],
    onto: text(values, 'onto'),
    dirty: flag(values, 'dirty'),
    conflicts: choice(values, 'conflicts', ['fail', 'markers']),
  })
  const { task, checkpoint, conflicts, operation } = done
  const lines = [
    checkpoint ? `Updated ${task.id}, as its new step ${checkpoint.n}` : `${task.id} is up to date`,
  ]
  for (const { path, kind } of conflicts)
    lines.push(`  conflict to resolve in ${task.path}: ${path} (${kind})`)
  if (operation !== undefined) lines.push(`  undo: offshoot undo ${operation.slice(0, 6)}`)
  return { json: { ...done }, text: printableLines(lines) }
}
