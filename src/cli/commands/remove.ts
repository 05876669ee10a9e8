import { AppError } from '../../core/model/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printable, shortList } from '../output.ts'

export async function worktreeRemove(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const named = { task: text(values, 'task'), path: text(values, 'path'), name: positionals[0] }
  if (Object.values(named).filter((value) => value !== undefined).length !== 1) {
    throw new AppError('wrongUsage', 'Which worktree?', {
      hint: 'Give one of: NAME, --task TASK, --path PATH.',
    })
  }
  const keepBranch = flag(values, 'keep-branch')
  if (keepBranch && flag(values, 'delete-branch')) {
    throw new AppError('wrongUsage', '--keep-branch and --delete-branch do not go together.')
  }
  const input = { repo: dir, ...named, force: flag(values, 'force'), keepBranch }
  const { task, ...done } = await context.call('worktree.remove', input)
  if (!done.removed) return { json: { ...done, task }, text: `${task.id} had been removed before.` }
  if (done.ignored.length > 0) {
    context.tell(printable(`Ignored files went with it into the trash: ${shortList(done.ignored)}`))
  }
  const lines = [
    `Removed ${task.id}${done.branchKept ? `; the branch ${task.branch} stays` : ''}`,
    `  trash: ${done.trash}`,
  ]
  return { json: { ...done, task }, text: printable(lines.join('\n')) }
}
