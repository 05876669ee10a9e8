import { bin } from '../bin.ts'
import type { Answer, Context } from '../command.ts'

/**
 * Claude Code itself, in the workspace and at the terminal. Steps are taken by a hook, which comes as a flag: nothing of
 * the user's settings changes.
 */
export async function attach(context: Context): Promise<Answer> {
  const { dir: repo, positionals } = context
  const { task } = await context.call('task.show', { repo, task: positionals[0] })
  const going =
    task.conversation !== undefined && task.agent === 'claude' ? ['--resume', task.conversation] : []
  const command = ['claude', '--settings', JSON.stringify({ hooks: hooks() }), ...going]
  const ran = await context.call('task.run', { repo, task: task.id, starts: false, command })
  const { id, checkpoints, files } = ran.task
  return {
    json: { ...ran },
    text: `${context.paint('bold', id)}: ${checkpoints} steps, ${files} files\n  offshoot diff ${id}    offshoot accept ${id}`,
    exitCode: ran.exitCode,
  }
}

function hooks(): object {
  const command = [process.execPath, bin, 'hook', 'claude', 'PostToolUse', '--quiet']
    .map((word) => `'${word}'`)
    .join(' ')
  return { PostToolUse: [{ matcher: '*', hooks: [{ type: 'command', command }] }] }
}
