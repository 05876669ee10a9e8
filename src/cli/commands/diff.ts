/** `diff`: prints the changes of a task, or of its steps. */
import { AppError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printableDiff, table } from '../output.ts'
import { isTerminal } from '../stdout.ts'

export async function diff(context: Context): Promise<Answer> {
  const { dir, values, positionals, colored } = context
  const [stat, names, hunks] = [flag(values, 'stat'), flag(values, 'name-only'), flag(values, 'hunks')]
  if (Number(stat) + Number(names) + Number(hunks) > 1)
    throw new AppError('wrongUsage', '--stat, --name-only and --hunks cannot be combined.', {
      hint: 'Give one of them.',
    })
  if (hunks && text(values, 'step') !== undefined)
    throw new AppError(
      'wrongUsage',
      '--hunks lists the hunks of the whole task, so --step cannot be given.',
      {
        hint: 'Leave one of them out.',
      },
    )
  const told = await context.call('task.diff', {
    repo: dir,
    task: positionals[0],
    step: text(values, 'step'),
    format: stat ? 'stat' : names ? 'names' : 'patch',
    color: colored,
    hunks: hunks || flag(values, 'json'),
  })
  if (told.files.length === 0) context.tell('No difference.')
  const words = told.diff.trimEnd()
  // A patch stays as git made it where a program reads it: escaping would break it for `git apply`.
  const shown = stat || names || isTerminal() ? printableDiff(words) : words
  return { json: { ...told }, text: hunks ? listed(told.hunks ?? []) : shown, long: true }
}

/** The id comes first, so that `accept --hunks` can read the list as it is. */
function listed(hunks: NonNullable<Output<'task.diff'>['hunks']>): string {
  const rows = hunks.map(({ id, path, header, insertions, deletions }) => [
    id,
    path,
    `+${insertions} -${deletions}`,
    header,
  ])
  return table(rows)
}
