/** `reject` and `delete`: discard the work of a task. */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { leftFolder } from '../left-folder.ts'
import { leftLine, printableLines } from '../output.ts'

export async function reject(context: Context): Promise<Answer> {
  const input = {
    repo: context.dir,
    task: context.positionals[0],
    keepBranch: flag(context.values, 'keep-branch'),
  }
  return answer(context, 'Rejected', await context.call('task.reject', input))
}

export async function deleteTask(context: Context): Promise<Answer> {
  return answer(
    context,
    'Deleted',
    await context.call('task.delete', { repo: context.dir, task: context.positionals[0] }),
  )
}

function answer(context: Context, done: string, rejected: Output<'task.reject'>): Answer {
  const { task, operation, branchKept, skipped = [], left = [], unkept } = rejected
  const lines = [
    `${done} ${task.id}${branchKept ? `; the branch ${task.branch} stays` : ''}`,
    ...skipped.map(({ path, why }) => `  in no step, only in the trash: ${path} (${why})`),
    ...left.map(leftLine),
    ...(unkept === undefined ? [] : [`  the last changes are in no step, only in the trash: ${unkept}`]),
    `  undo: offshoot undo ${operation.slice(0, 6)}`,
    ...leftFolder(context, task),
  ]
  return { json: { ...rejected }, text: printableLines(lines) }
}
