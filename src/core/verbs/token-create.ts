/** The verb token create: makes a token for a program, or for the agent of one task. */
import type { Scope } from '../model/enums.ts'
import { AppError } from '../model/errors.ts'
import { isOpen } from '../model/task.ts'
import type { Token, TokenRights } from '../model/token.ts'
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'
import { addToken } from '../tokens/tokens.ts'

export interface TokenCreateInput {
  readonly dir?: string | undefined
  readonly scope?: Scope | undefined
  /** The task whose agent gets the token, instead of a scope. */
  readonly task?: string | undefined
  readonly name?: string | undefined
  readonly days?: number | undefined
}

const defaultDays = 90
const mostDays = 3650

export async function createToken(
  ports: Ports,
  { name = '', days = defaultDays, ...input }: TokenCreateInput,
): Promise<{ readonly text: string; readonly token: Token }> {
  if (!Number.isInteger(days) || days < 1 || days > mostDays)
    throw new AppError('wrongUsage', `A token is valid for 1 to ${mostDays} days.`, {
      hint: 'offshoot token create --scope look --days 30',
    })
  return addToken(ports, { name, days, rights: await rightsOf(ports, input) })
}

async function rightsOf(
  ports: Ports,
  { dir, scope, task: named }: Pick<TokenCreateInput, 'dir' | 'scope' | 'task'>,
): Promise<TokenRights> {
  if ((scope === undefined) === (named === undefined))
    throw new AppError('wrongUsage', 'A token has a scope, or is for the agent of one task.', {
      hint: 'offshoot token create --scope look, or offshoot token create --task T1',
    })
  if (scope !== undefined) return { kind: 'scope', scope }
  if (dir === undefined)
    throw new AppError('wrongUsage', 'Which repository the task is in is missing.', {
      hint: 'Name the repository by its path.',
    })
  const { task } = await requireTask(ports, dir, named)
  if (!isOpen(task))
    throw new AppError('noSuchTask', `The task ${task.id} is closed.`, { data: { uid: task.uid } })
  return { kind: 'task', uid: task.uid, task: task.id }
}
