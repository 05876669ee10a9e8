import type { Answer, Context } from '../command.ts'
import { printable, table } from '../output.ts'

export async function agents(context: Context): Promise<Answer> {
  const { agents } = await context.call('system.agents', {})
  const rows = agents.map(({ name, title, path, version, exact, asks, install }) => [
    name,
    title,
    exact ? 'a step per tool call' : 'a step per batch',
    asks ? 'asks' : 'does not ask',
    path === null ? (install === null ? '' : `not installed: ${install}`) : `${version ?? '?'} ${path}`,
  ])
  return { json: { agents }, text: printable(table(rows)) }
}
