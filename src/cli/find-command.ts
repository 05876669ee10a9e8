/** The command that the first words of a line name, in a table of commands. */
import { nearest } from '../core/base/did-you-mean.ts'
import { AppError } from '../core/model/errors.ts'
import type { Command } from './command.ts'

/** The command of these words; undefined when there are none. */
export function findMeant(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const command =
    commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
    commands.find(({ name }) => name === words[0])
  if (!command && words.length > 0) throw unknownCommand(commands, words)
  return command
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): AppError {
  const group = commands.some(({ name }) => name.startsWith(`${words[0]} `))
  const wanted = group ? words.slice(0, 2).join(' ') : (words[0] ?? '')
  const near = nearest(
    wanted,
    commands.map(({ name }) => name),
  )
  return new AppError('wrongUsage', `Unknown command ${JSON.stringify(wanted)}.`, {
    hint: near === undefined ? 'offshoot --help lists the commands.' : `Did you mean: offshoot ${near}`,
  })
}
