/** `open`: opens the workspace of a task in an editor. */
import { existsSync } from 'node:fs'
import { AppError } from '../../core/model/errors.ts'
import type { Answer, Context } from '../command.ts'
import { editorLine, openEditor } from '../editor.ts'
import { printable } from '../output.ts'
import { workspaceOf } from '../workspace-of.ts'

const editorHint =
  'Set the variable VISUAL or EDITOR, or the setting editor.command, to the command of your editor.'

export async function open(context: Context): Promise<Answer> {
  const { dir: repo, env, call } = context
  const { path, origin } = await workspaceOf(context)
  const { settings } = await call('system.config', { repo })
  const setting = settings.find(({ key }) => key === 'editor.command')?.value
  const line = editorLine(typeof setting === 'string' ? setting : '', env)
  if (line === undefined) {
    throw new AppError('programMissing', 'No editor was found.', {
      hint: editorHint,
    })
  }
  const exitCode = await openEditor(line, { folder: path, checkout: existsSync(origin) ? origin : '/' }, env)
  if (exitCode !== 0) {
    throw new AppError('failed', `The editor ${printable(line)} ended with ${exitCode}.`, {
      path,
      hint: editorHint,
    })
  }
  return { json: { path, editor: line }, text: '' }
}
