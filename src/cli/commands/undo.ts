/** `undo` and `ops`: undo an operation, and list them (docs/adr/0015-operations-staged-then-finished.md). */
import type { Output } from '../../protocol/schemas/index.ts'
import type { Answer, Context } from '../command.ts'
import { ago, leftLine, printableLines, table } from '../output.ts'
import { counted } from '../../core/base/counted.ts'

export async function undo(context: Context): Promise<Answer> {
  const done = await context.call('system.undo', { repo: context.dir, operation: context.positionals[0] })
  const { also = [], errors = [] } = done
  const lines = [
    ...[done, ...also].flatMap(undoneLines),
    ...errors.flatMap(({ undone, task, error }) => [
      `Not undone: ${undone.slice(0, 6)} of ${task}: ${error.message}`,
      `  hint: ${error.hint}`,
    ]),
    `  redo: offshoot undo ${done.operation.slice(0, 6)}`,
  ]
  return { json: { ...done }, text: printableLines(lines), exitCode: errors.length > 0 ? 1 : 0 }
}

type Undone = Pick<Output<'system.undo'>, 'verb' | 'task' | 'files' | 'left'>

function undoneLines({ verb, task, files, left = [] }: Undone): string[] {
  // An undo of `reject` moves a folder and writes no file: "(0 files)" would read like a failure.
  const count = files.length === 0 ? '' : ` (${counted(files.length, 'file')})`
  return [`Undid ${verb} of ${task.id}${count}`, ...left.map(leftLine)]
}

export async function ops(context: Context): Promise<Answer> {
  const { operations } = await context.call('system.ops', { repo: context.dir })
  if (operations.length === 0) context.tell('No operations yet.')
  const now = new Date()
  const rows = operations.map((operation) => {
    const { id, verb, task, at } = operation
    const whole = operations.find((other) => other.id === operation.batch)
    const belongs = whole && `with ${whole.verb} ${whole.id.slice(0, 6)}`
    return [id.slice(0, 6), verb, task, ago(at, now), [mark(operation), belongs].filter(Boolean).join(', ')]
  })
  return { json: { operations }, text: await table(rows) }
}

function mark({ undone, final, expired }: Output<'system.ops'>['operations'][number]): string {
  if (undone) return 'undone'
  if (final !== undefined) return `cannot be undone: ${final}`
  return expired ? 'cannot be undone: too old' : ''
}
