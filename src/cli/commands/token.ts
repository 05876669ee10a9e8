/** `token create`, `token list` and `token revoke`. */
import { scopes } from '../../core/model/enums.ts'
import { type Answer, choice, type Context, text } from '../command.ts'
import { printable, table } from '../output.ts'

export async function create({ dir: repo, values, call, tell }: Context): Promise<Answer> {
  const days = text(values, 'days')
  const made = await call('token.create', {
    repo,
    scope: choice(values, 'scope', scopes),
    task: text(values, 'task'),
    name: text(values, 'name'),
    days: days === undefined ? undefined : Number(days),
  })
  tell(`Valid until ${made.expiresAt}. It is shown this once; offshoot token revoke ${made.id} revokes it.`)
  return { json: { ...made }, text: made.token }
}

export async function list({ call }: Context): Promise<Answer> {
  const { tokens } = await call('token.list', {})
  const rows = tokens.map(({ id, scope, task, name, expiresAt, expired }) => [
    id,
    task === undefined ? scope : `task ${task}`,
    expired ? 'expired' : expiresAt.slice(0, 10),
    printable(name),
  ])
  return {
    json: { tokens },
    text: tokens.length === 0 ? 'No tokens.' : await table([['ID', 'SCOPE', 'UNTIL', 'NAME'], ...rows]),
  }
}

export async function revoke({ positionals, call }: Context): Promise<Answer> {
  const [id = ''] = positionals
  const { revoked } = await call('token.revoke', { id })
  return { json: { revoked }, text: `Revoked ${revoked.id}.` }
}
