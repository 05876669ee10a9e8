/** `show`: prints one task. */
import { diskText } from '../../core/model/disk-use.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { ago, stateWords, table } from '../output.ts'

export async function show(context: Context): Promise<Answer> {
  const { dir: repo, values, positionals } = context
  const shown = await context.call('task.show', { repo, task: positionals[0] })
  const use = flag(values, 'disk')
    ? await context.call('system.disk', { repo, task: shown.task.id })
    : undefined
  return answer(shown, use)
}

export async function worktreeShow(context: Context): Promise<Answer> {
  return answer(await context.call('task.show', { repo: context.dir, task: text(context.values, 'task') }))
}

async function answer({ task }: Output<'task.show'>, use?: Output<'system.disk'>): Promise<Answer> {
  const now = new Date()
  const rows = [
    ['task', task.title === '' ? task.id : `${task.id}: ${task.title}`],
    ['state', stateWords(task)],
    ['workspace', task.path],
    ['branch', `${task.branch} at ${task.head.slice(0, 10)}`],
    ['left out', task.leftOut ?? ''],
    ['base', `${task.base.branch ?? '(no branch)'} at ${task.base.commit.slice(0, 10)}`],
    ['uncommitted', task.dirty === null ? 'no workspace' : task.dirty ? 'yes' : 'no'],
    ['landed', task.landed === null ? '' : task.landed ? `in ${task.base.branch}` : 'not yet'],
    ['ports', task.ports === undefined ? '' : `${task.ports[0]}–${task.ports.at(-1)}`],
    ['slug', task.slug],
    ['started', ago(task.createdAt, now)],
    ['last active', ago(task.lastActiveAt, now)],
    ['disk', use ? diskText(use) : ''],
  ]
  return {
    json: { task, ...(use && { disk: use }) },
    text: await table(rows.filter(([, value]) => value !== '')),
  }
}
