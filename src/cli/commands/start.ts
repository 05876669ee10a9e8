/** `start`: makes a task and its workspace. */
import { AppError } from '../../core/model/errors.ts'
import { isolations } from '../../core/model/enums.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, choice, type Context, flag, text } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { printable, shortList } from '../output.ts'

export async function start(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  return answer(
    context,
    await context.call('task.start', {
      repo: dir,
      task: positionals[0],
      title: text(values, 'title'),
      from: text(values, 'from'),
      branch: text(values, 'branch'),
      existingBranch: text(values, 'existing-branch'),
      isolation: choice(values, 'isolation', isolations),
      dirty: flag(values, 'dirty'),
    }),
  )
}

export async function worktreeCreate(context: Context): Promise<Answer> {
  const { dir, values } = context
  const task = text(values, 'task')
  if (task === undefined)
    throw new AppError('wrongUsage', '`worktree create`: missing option --task.', {
      hint: 'Usage: offshoot worktree create --task TASK',
    })
  const input = { repo: dir, task, from: text(values, 'from'), branch: text(values, 'branch') }
  return answer(context, await context.call('task.start', input))
}

function answer({ paint }: Context, started: Output<'task.start'>): Answer {
  const { task, reused, recreated, included, submodules, pointers = [], putAway = 0, setup } = started
  const done = recreated ? 'Recreated the workspace of' : reused ? 'Continuing' : 'Started'
  const lines = [
    `${done} ${paint('bold', task.id)} on ${printable(task.branch)}, from ${printable(task.base.branch ?? 'commit')} ${task.base.commit.slice(0, 10)}`,
    `  ${printable(task.path)}`,
    ...(putAway > 0 && !reused
      ? [
          `  put away: your uncommitted changes in ${counted(putAway, 'file')}; accept and reject bring them back`,
        ]
      : []),
    ...includedLines(included),
    ...(submodules?.empty ?? []).map(({ path, why }) => `  submodule ${printable(path)} is empty: ${why}`),
    ...(pointers.length > 0
      ? [`  ${printable(shortList(pointers))}: only a Git LFS pointer, because no LFS filter is set up`]
      : []),
    ...(setup && !setup.ok ? [`  ${setup.hook} did not succeed: ${printable(setup.why)}`] : []),
  ]
  return { json: { ...started }, text: lines.join('\n') }
}

/** Warns of links: only through them can a write in the workspace change the checkout. */
function includedLines(included: Output<'task.start'>['included']): string[] {
  if (!included) return []
  const { copied, linked } = included
  const [first = ''] = copied
  const files = copied.length > 1 ? `${first} and ${copied.length - 1} more` : first
  return [
    ...(copied.length > 0 ? [`  copied ${printable(files)}`] : []),
    ...linked.map((name) => `  linked ${printable(name)}: an edit there changes your checkout too`),
  ]
}
