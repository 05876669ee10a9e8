/** `config` and `config import`: prints the settings, and imports those of other tools. */
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
  return { json: { settings }, text: await table(rows) }
}

export async function importPeers({ dir: repo, values, positionals, paint, call }: Context): Promise<Answer> {
  const dryRun = flag(values, 'dry-run')
  const done = await call('system.import', { repo, file: positionals[0], dryRun })
  const lines = done.settings.map(
    ({ key, value, from }) =>
      `  ${paint('bold', key)} from ${from}: ${printable(value.split('\n').join('; '))}`,
  )
  const verdict = dryRun ? 'Would import:' : 'Imported into .offshoot.yaml; offshoot trust lets it run:'
  const text =
    lines.length === 0
      ? 'Nothing to import: .offshoot.yaml already has all of it.'
      : [verdict, ...lines].join('\n')
  return { json: { ...done }, text }
}
