/** `help [COMMAND]` and `version`. */
import type { Answer, Command, Context } from '../command.ts'
import { findMeant } from '../find-command.ts'
import { commandHelp, overview } from '../help.ts'
import { readVersion } from '../version.ts'

/** The table of commands hands itself in: help is one of its rows. */
export function helpOf(commands: readonly Command[]): (context: Context) => Promise<Answer> {
  return async ({ positionals }) => {
    const command = findMeant(commands, positionals, ['help', ...positionals])
    const text = command ? commandHelp(command) : overview(commands)
    return { json: { help: text }, text }
  }
}

export async function version(): Promise<Answer> {
  const found = readVersion()
  return { json: { version: found }, text: found }
}
