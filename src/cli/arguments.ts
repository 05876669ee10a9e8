import { parseArgs } from 'node:util'
import { AppError } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import type { Command, Option, Values } from './command.ts'
import { commands, globalOptions } from './commands.ts'

export interface Parsed {
  readonly command: Command | undefined
  readonly values: Values
  readonly positionals: string[]
  /** What follows `--`: for another command. */
  readonly rest: string[]
}

/** Which command is meant, and with what. Throws WT_019 for what it does not know. */
export function parse(all: readonly string[]): Parsed {
  const end = all.includes('--') ? all.indexOf('--') : all.length
  const [argv, rest] = [all.slice(0, end), all.slice(end + 1)]
  const words = leadingWords(argv)
  const command = commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? findByName(words[0])
  if (!command && words.length > 0) throw unknownCommand(words)
  const options = { ...globalOptions, ...command?.options }
  try {
    const { values, positionals } = parseArgs({
      args: withEmpty(argv, options),
      options,
      allowPositionals: true,
      strict: true,
    })
    const own = positionals.slice(command ? command.name.split(' ').length : 0)
    // Only `run` and the like hand it on; elsewhere it is a name that may begin with a dash.
    if (!command?.args?.includes('--')) own.push(...rest.splice(0))
    if (command && !values.help) {
      requireCount(command, own)
      requireFilled(command, own, values)
    }
    return { command, values, positionals: own, rest }
  } catch (error) {
    throw error instanceof AppError ? error : wrongOption(error, Object.keys(options), command)
  }
}

/** An option whose value may be left out: what follows is one unless it is an option itself, or has more words than one. */
function withEmpty(argv: readonly string[], options: Readonly<Record<string, Option>>): string[] {
  return argv.map((arg, index) => {
    const next = argv[index + 1]
    const bare = next === undefined || next.startsWith('-') || /\s/.test(next)
    return arg.startsWith('--') && options[arg.slice(2)]?.optional && bare ? `${arg}=` : arg
  })
}

function findByName(name: string | undefined): Command | undefined {
  return commands.find((command) => command.name === name)
}

/** The first words that are neither options nor the values of global ones. */
function leadingWords(argv: readonly string[]): string[] {
  const words: string[] = []
  for (let index = 0; index < argv.length && words.length < 2; index++) {
    const arg = argv[index] ?? ''
    if (arg === '--') break
    if (arg === '-C' || arg === '--directory') index++
    else if (!arg.startsWith('-')) words.push(arg)
    else if (words.length > 0) break
  }
  return words
}

function unknownCommand(words: readonly string[]): AppError {
  const group = commands.some(({ name }) => name.startsWith(`${words[0]} `))
  const wanted = group ? words.join(' ') : (words[0] ?? '')
  const near = nearest(
    wanted,
    commands.map(({ name }) => name),
  )
  return new AppError('WT_019', `There is no command ${JSON.stringify(wanted)}.`, {
    hint: near === undefined ? 'offshoot --help lists the commands.' : `Did you mean: offshoot ${near}`,
  })
}

function wrongOption(error: unknown, known: string[], command: Command | undefined): AppError {
  const message = error instanceof Error ? error.message : String(error)
  const option = /'(-[^' ]*)/.exec(message)?.[1]
  const help = `offshoot ${command ? `${command.name} ` : ''}--help shows the options.`
  if ((error as NodeJS.ErrnoException).code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option !== undefined) {
    const near = nearest(option.replace(/^-+/, ''), known)
    const hint = near === undefined ? help : `Did you mean: --${near}`
    return new AppError('WT_019', `There is no option ${option}.`, { hint, cause: error })
  }
  return new AppError('WT_019', message.split('\n')[0] ?? message, { hint: help, cause: error })
}

function requireCount(command: Command, positionals: readonly string[]): void {
  const [least, most] = command.takes ?? [0, 0]
  const hint = `Usage: offshoot ${command.name} ${command.args ?? ''}`.trimEnd()
  if (positionals.length < least)
    throw new AppError('WT_019', `${command.name}: something is missing.`, { hint })
  const extra = positionals[most]
  if (extra !== undefined)
    throw new AppError('WT_019', `${command.name}: what is ${JSON.stringify(extra)}?`, { hint })
}

/** An empty name is a variable of a shell that was not set: whatever it fits is not what was meant. */
function requireFilled(command: Command, positionals: readonly string[], values: Values): void {
  const named = Object.entries(command.options ?? {}).flatMap(([name, { value }]) =>
    value === 'TASK' || value === 'PATH' ? [values[name]].flat() : [],
  )
  if ([...positionals, ...named].includes(''))
    throw new AppError('WT_019', `${command.name}: a name is empty.`, {
      hint: `Usage: offshoot ${command.name} ${command.args ?? ''}`.trimEnd(),
    })
}
