/** `help [COMMAND]` and `version`. */
import { findMeant } from '../arguments.ts'
import type { Answer, Context } from '../command.ts'
import { commandHelp, overview } from '../help.ts'
import { readVersion } from '../version.ts'

export async function help({ positionals }: Context): Promise<Answer> {
  const command = findMeant(positionals)
  const text = command ? commandHelp(command) : overview()
  return { json: { help: text }, text }
}

export async function version(): Promise<Answer> {
  const found = readVersion()
  return { json: { version: found }, text: found }
}
