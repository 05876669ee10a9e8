import { type Answer, type Context, flag } from '../command.ts'
import { printable, table } from '../output.ts'

export async function config(context: Context): Promise<Answer> {
  const { settings } = await context.call('system.config', { repo: context.dir })
  const withOrigin = flag(context.values, 'show-origin')
  const rows = settings.map(({ key, value, origin }) => [
    key,
    JSON.stringify(value),
    withOrigin ? origin : '',
  ])
  return { json: { settings }, text: printable(table(rows)) }
}
