/** `list`: prints the tasks of the repository. */
import { diskText, sizeText } from '../../core/model/disk-use.ts'
import { taskStates } from '../../core/model/enums.ts'
import { type Answer, choice, type Context, flag } from '../command.ts'
import { ago, stateWords, table } from '../output.ts'

export async function list(context: Context): Promise<Answer> {
  const { dir, values } = context
  const state = choice(values, 'state', taskStates)
  const { tasks } = await context.call('task.list', { repo: dir, all: flag(values, 'all'), state })
  if (tasks.length === 0) {
    context.tell('No tasks in this repository. Start one: offshoot start TASK-1')
    return { json: { tasks }, text: '' }
  }
  const use = flag(values, 'disk') ? await context.call('system.disk', { repo: dir }) : undefined
  const sizes = new Map(use?.workspaces.map(({ path, bytes }) => [path, sizeText(bytes)]))
  const now = new Date()
  const rows = tasks.map((task) => [
    task.id,
    stateWords(task, 60),
    task.branch,
    ago(task.lastActiveAt, now),
    ...(use ? [sizes.get(task.path) ?? ''] : []),
    task.path,
  ])
  const head = ['TASK', 'STATE', 'BRANCH', 'ACTIVE', ...(use ? ['DISK'] : []), 'WORKSPACE']
  return {
    json: { tasks, ...(use && { disk: use }) },
    text: (await table([head, ...rows])) + (use ? `\n\n${diskText(use)}` : ''),
  }
}
