import type { Output } from '../../protocol/actions.ts'
import { type Answer, type Context, text } from '../command.ts'
import { ago, printable, stateWords, table } from '../output.ts'

export async function show(context: Context): Promise<Answer> {
  return answer(await context.call('task.show', { repo: context.dir, task: context.positionals[0] }))
}

export async function worktreeShow(context: Context): Promise<Answer> {
  return answer(
    await context.call('worktree.show', { repo: context.dir, task: text(context.values, 'task') }),
  )
}

function answer({ task }: Output<'task.show'>): Answer {
  const now = new Date()
  const rows = [
    ['task', task.title === '' ? task.id : `${task.id}: ${task.title}`],
    ['state', stateWords(task)],
    ['workspace', task.path],
    ['branch', `${task.branch} at ${task.head.slice(0, 10)}`],
    ['base', `${task.base.branch ?? '(no branch)'} at ${task.base.commit.slice(0, 10)}`],
    ['uncommitted', task.dirty === null ? 'no workspace' : task.dirty ? 'yes' : 'no'],
    ['landed', task.landed === null ? '' : task.landed ? `in ${task.base.branch}` : 'not yet'],
    ['started', ago(task.createdAt, now)],
    ['last active', ago(task.lastActiveAt, now)],
  ]
  return { json: { task }, text: printable(table(rows.filter(([, value]) => value !== ''))) }
}
