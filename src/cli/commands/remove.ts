/** `worktree remove`: moves a worktree into the trash (docs/adr/0012-nothing-is-deleted.md). */
import { requireCombinable } from '../../core/base/exclusions.ts'
import { AppError } from '../../core/model/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { leftFolder } from '../left-folder.ts'
import { printable, printableLines, shortList } from '../output.ts'

export async function worktreeRemove(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const named = { task: text(values, 'task'), path: text(values, 'path'), name: positionals[0] }
  const given = Object.values(named).filter((value) => value !== undefined).length
  if (given !== 1) {
    const wrong = given === 0 ? 'missing argument NAME' : 'NAME, --task and --path cannot be combined'
    throw new AppError('wrongUsage', `\`worktree remove\`: ${wrong}.`, {
      hint: 'Give one of: NAME, --task TASK, --path PATH.',
    })
  }
  const keepBranch = flag(values, 'keep-branch')
  requireCombinable({ '--keep-branch': keepBranch, '--delete-branch': flag(values, 'delete-branch') }, [
    { options: ['--keep-branch', '--delete-branch'] },
  ])
  const input = { repo: dir, ...named, force: flag(values, 'force'), keepBranch }
  const { task, ...done } = await context.call('worktree.remove', input)
  if (!done.removed) return { json: { ...done, task }, text: `${task.id} was removed before.` }
  if (done.ignored.length > 0) {
    context.tell(printable(`Its ignored files are in the trash too: ${shortList(done.ignored)}`))
  }
  const lines = [
    `Removed ${task.id}${done.branchKept ? `; the branch ${task.branch} stays` : ''}`,
    `  trash: ${done.trash}`,
    ...(done.operation === undefined ? [] : [`  undo: offshoot undo ${done.operation.slice(0, 6)}`]),
    ...leftFolder(context, task),
  ]
  return { json: { ...done, task }, text: printableLines(lines) }
}
