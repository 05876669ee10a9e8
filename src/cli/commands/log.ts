/** `log`: prints the steps of a task. */
import type { Output } from '../../protocol/schemas/index.ts'
import type { Answer, Context } from '../command.ts'
import { ago, marks, printable } from '../output.ts'

type Step = Output<'task.log'>['checkpoints'][number]

export async function log(context: Context): Promise<Answer> {
  const { task, checkpoints } = await context.call('task.log', {
    repo: context.dir,
    task: context.positionals[0],
  })
  if (checkpoints.length === 0) context.tell(`${task.id} has no steps yet.`)
  const lines = checkpoints.map((step) => stepLine(context, step))
  return { json: { task, checkpoints }, text: lines.join('\n'), long: true }
}

/** `3  1a2b3c4d5e  Write: Create a.txt  (+ a.txt)  just now` */
export function stepLine({ paint }: Context, step: Step): string {
  const named = step.files.slice(0, 3).map(({ path, status }) => `${marks[status]} ${path}`)
  const more = step.files.length > 3 ? [`and ${step.files.length - 3} more`] : []
  return [
    paint('yellow', String(step.n)),
    (step.published ?? step.commit).slice(0, 10),
    printable(step.summary === '' ? step.tool : `${step.tool}: ${step.summary}`),
    printable(`(${[...named, ...more].join(', ') || 'no files'})`),
    ago(step.at, new Date()),
  ].join('  ')
}
