/** `trust`: shows and trusts the commands of the repository’s own settings. */
import { type Answer, type Context, flag } from '../command.ts'
import { printable } from '../output.ts'

export async function trust({ dir, values, paint, call }: Context): Promise<Answer> {
  const show = flag(values, 'show')
  const { commands, trusted } = await call('system.trust', {
    repo: dir,
    show,
    revoke: flag(values, 'revoke'),
    ci: flag(values, 'ci'),
  })
  const lines = commands.map(({ hook, command }) => `  ${paint('bold', hook)}  ${printable(command)}`)
  const verdict = trusted ? 'Trusted, until any of it changes:' : 'Not trusted:'
  const text =
    lines.length === 0
      ? 'The settings of this repository contain no commands.'
      : [verdict, ...lines].join('\n')
  return { json: { commands, trusted }, text }
}
