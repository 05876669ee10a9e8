import type { Answer, Context } from '../command.ts'
import { printable, table } from '../output.ts'

export async function repos(context: Context): Promise<Answer> {
  const { repos } = await context.call('system.repos', {})
  if (repos.length === 0) context.tell('No repositories yet: offshoot start takes one in.')
  const rows = repos.map((repo) => [
    repo.name,
    `${repo.openTasks} open`,
    repo.path,
    repo.exists ? '' : '(gone)',
  ])
  return { json: { repos }, text: printable(table(rows)) }
}
