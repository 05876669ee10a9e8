/** `repos` and `repos forget`: list the known repositories, and stop listing one. */
import path from 'node:path'
import { quoted } from '../../core/base/shell-quote.ts'
import type { Answer, Context } from '../command.ts'
import { printableLines, table } from '../output.ts'

export async function repos(context: Context): Promise<Answer> {
  const { repos } = await context.call('system.repos', {})
  if (repos.length === 0)
    context.tell('No repositories yet. The first offshoot start in a repository adds it.')
  const rows = repos.map((repo) => [
    repo.name,
    `${repo.openTasks} open`,
    repo.path,
    repo.exists ? '' : '(gone)',
  ])
  return { json: { repos }, text: await table(rows) }
}

export async function forget(context: Context): Promise<Answer> {
  const { dir, positionals } = context
  const done = await context.call('system.forget', { repo: path.resolve(dir, positionals[0] ?? '') })
  const lines = [
    done.errors.length === 0 ? `Forgot ${done.repo}` : `${done.repo} stays listed`,
    ...done.closed.map(
      ({ task, operation }) =>
        `  moved ${task.id} into the trash; undo: offshoot undo ${operation.slice(0, 6)} -C ${quoted(done.repo)}`,
    ),
    ...done.errors.map(({ task, error }) => `  ${task.id} stays: ${error.code} ${error.message}`),
  ]
  return {
    json: { ...done },
    text: printableLines(lines),
    exitCode: done.errors.length > 0 ? 1 : 0,
  }
}
