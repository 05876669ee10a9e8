/** Tells a user whose shell stands in a workspace that the workspace has gone into the trash. */
import { isBelow } from '../core/base/below.ts'
import { quoted } from '../core/base/shell-quote.ts'
import type { Output } from '../protocol/schemas/index.ts'
import type { Context } from './command.ts'
import { isClosed } from './output.ts'

/** One line when the command was typed in the workspace that it has moved, else none. */
export function leftFolder({ dir, values }: Context, task: Output<'task.show'>['task']): string[] {
  const { path, origin, isolation } = task
  // With -C the shell stands elsewhere; on a shadow branch the checkout stays where it is.
  if (!isClosed(task) || isolation === 'branch' || values.directory !== undefined || !isBelow(dir, path))
    return []
  return [`  this folder has gone into the trash: cd ${quoted(origin)}`]
}
