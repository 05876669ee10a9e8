import { AppError } from '../../core/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'

/** Prints what git prints, as it is: a patch must stay one. */
export async function diff(context: Context): Promise<Answer> {
  const { dir, values, positionals, colored } = context
  const [stat, names] = [flag(values, 'stat'), flag(values, 'name-only')]
  if (stat && names) throw new AppError('WT_019', '--stat and --name-only do not go together.')
  const told = await context.call('task.diff', {
    repo: dir,
    task: positionals[0],
    step: text(values, 'step'),
    format: stat ? 'stat' : names ? 'names' : 'patch',
    color: colored,
  })
  if (told.files.length === 0) context.tell('No difference.')
  return { json: { ...told }, text: told.diff.trimEnd() }
}
