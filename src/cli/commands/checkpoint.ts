/** `checkpoint`: takes a step of the workspace. */
import { type Answer, type Context, text } from '../command.ts'
import { printable, shortList } from '../output.ts'
import { stepLine } from './log.ts'

export async function checkpoint(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const taken = await context.call('task.checkpoint', {
    repo: dir,
    task: positionals[0],
    tool: text(values, 'tool'),
    summary: text(values, 'summary'),
    ignored: true,
  })
  const { created, checkpoint, ignored } = taken
  for (const { path, why } of checkpoint.skipped) context.tell(printable(`Not in the step: ${path} (${why})`))
  if (ignored.length > 0) context.tell(printable(`Ignored, not in the step: ${shortList(ignored)}`))
  if (taken.unpublished !== undefined)
    context.tell(`The step is kept, but not on the branch: ${taken.unpublished}`)
  const said = created
    ? stepLine(context.paint, checkpoint)
    : `Nothing has changed since step ${checkpoint.n}.`
  return { json: { ...taken }, text: said }
}
