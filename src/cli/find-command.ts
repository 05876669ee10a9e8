/** The command that the first words of a line name, in a table of commands. */
import { nearest } from '../core/base/did-you-mean.ts'
import { AppError } from '../core/model/errors.ts'
import type { Command } from './command.ts'

/** The command of these words; undefined when there are none. */
export function findMeant(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const command =
    commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
    commands.find(({ name }) => name === words[0]) ??
    (words.length === 1 ? findGroup(commands, words[0] ?? '') : undefined)
  if (!command && words.length > 0) throw unknownCommand(commands, words)
  return command
}

/** `worktree`, which is no command but begins several; it has help, and nothing to do. */
function findGroup(commands: readonly Command[], first: string): Command | undefined {
  const members = commands.filter(({ name }) => name.startsWith(`${first} `))
  const [one] = members
  if (!one) return undefined
  const names = members.map(({ name }) => name)
  return {
    name: first,
    summary: `Commands that begin with ${first}`,
    group: one.group,
    args: [],
    options: {},
    examples: members.flatMap(({ examples }) => examples.slice(0, 1)),
    members,
    load: async () => {
      throw new AppError('wrongUsage', `\`${first}\` is only the beginning of a command.`, {
        hint: `Give one of: ${names.join(', ')}; offshoot ${first} --help explains them.`,
      })
    },
  }
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): AppError {
  const group = commands.some(({ name }) => name.startsWith(`${words[0]} `))
  const wanted = group ? words.slice(0, 2).join(' ') : (words[0] ?? '')
  const near =
    habits[wanted] ??
    nearest(
      wanted,
      commands.map(({ name }) => name),
    )
  return new AppError('wrongUsage', `Unknown command ${JSON.stringify(wanted)}.`, {
    hint: near === undefined ? 'offshoot --help lists the commands.' : `Did you mean: offshoot ${near}`,
  })
}

const givingUp =
  'reject (gives the work up), offshoot delete (also hides the task), or offshoot worktree remove'

/** Words of other tools, and the commands that do the same here. */
const habits: Readonly<Record<string, string>> = {
  rm: givingUp,
  remove: givingUp,
  discard: givingUp,
  ls: 'list',
  merge: 'accept',
  apply: 'accept',
  land: 'accept',
}
