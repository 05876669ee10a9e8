/** `list`: prints the tasks of the repository. */
import { diskText, sizeText } from '../../core/model/disk-use.ts'
import { taskStates } from '../../core/model/enums.ts'
import { type Answer, choice, type Context, flag } from '../command.ts'
import { age, type Fit, linesText, printable, stateWords, table, titleLine } from '../output.ts'

/** The title first, since the id tells which task it is; then the reason of a failure and a long id, before the title goes. */
const cut: Fit['cut'] = [
  { column: 1, least: 10 },
  { column: 3, least: 12 },
  { column: 0, least: 14 },
  { column: 1, least: 0 },
  { column: 3, least: 9 },
  { column: 0, least: 12 },
  { column: 2, least: 0 },
]

export async function list(context: Context): Promise<Answer> {
  const { dir, values } = context
  const state = choice(values, 'state', taskStates)
  const { tasks, seq, movedFrom } = await context.call('task.list', {
    repo: dir,
    all: flag(values, 'all'),
    state,
  })
  if (tasks.length === 0) {
    context.tell(
      movedFrom === undefined
        ? 'No tasks in this repository. Start one: offshoot start TASK-1'
        : printable(
            `This repository was at ${movedFrom} before. Its tasks are there again after: offshoot repair`,
          ),
    )
    return { json: { tasks, seq, ...(movedFrom !== undefined && { movedFrom }) }, text: '' }
  }
  const use = flag(values, 'disk') ? await context.call('system.disk', { repo: dir }) : undefined
  const sizes = new Map(use?.workspaces.map(({ path, bytes }) => [path, sizeText(bytes)]))
  const now = new Date()
  const rows = tasks.map((task) => [
    task.id,
    titleLine(task),
    task.agent ?? '',
    stateWords(task, 60),
    String(task.checkpoints),
    String(task.files),
    linesText(task),
    age(task.lastActiveAt, now),
    ...(use ? [sizes.get(task.path) ?? ''] : []),
  ])
  const head = ['TASK', 'TITLE', 'AGENT', 'STATE', 'STEPS', 'FILES', 'LINES', 'AGE', ...(use ? ['DISK'] : [])]
  const shown = await table([head, ...rows], { width: context.shell.stdout.columns, cut })
  return {
    json: { tasks, seq, ...(use && { disk: use }) },
    text: shown + (use ? `\n\n${diskText(use)}` : ''),
  }
}
