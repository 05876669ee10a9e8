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

export async function importPeers({ dir: repo, values, positionals, paint, call }: Context): Promise<Answer> {
  const dryRun = flag(values, 'dry-run')
  const done = await call('system.import', { repo, file: positionals[0], dryRun })
  const lines = done.settings.map(
    ({ key, value, from }) =>
      `  ${paint('bold', key)} from ${from}: ${printable(value.split('\n').join('; '))}`,
  )
  const verdict = dryRun ? 'Would be taken over:' : 'In .offshoot.yaml now; offshoot trust lets it run:'
  const text =
    lines.length === 0 ? 'Everything is in .offshoot.yaml already.' : [verdict, ...lines].join('\n')
  return { json: { ...done }, text }
}
