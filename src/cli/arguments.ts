/** Reads a command line: which command is meant, and with what. */
import { parseArgs } from 'node:util'
import { AppError } from '../core/model/errors.ts'
import { nearest } from '../core/base/did-you-mean.ts'
import { type Command, globalOptions, type Option, type Positional, usageOf, type Values } from './command.ts'
import { commands } from './commands.ts'
import { findMeant } from './find-command.ts'

/** A command line, cut where offshoot's own part ends. */
export interface Line {
  readonly own: readonly string[]
  /** The words after `--`. */
  readonly rest: readonly string[]
}

export function cut(argv: readonly string[]): Line {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return { own: argv.slice(0, end), rest: argv.slice(end + 1) }
}

/** The flags of every command, also from a line that has something wrong in it: they say how to tell so. */
export function readGlobals({ own }: Line): Values {
  // In `start -C --json` the folder is missing; a -C that takes a value would take the flag for it.
  const { directory: _, ...options } = globalOptions
  return parseArgs({ args: [...own], options, strict: false }).values
}

export interface Parsed {
  readonly command: Command | undefined
  readonly values: Values
  readonly positionals: string[]
  /** The words after `--`, when they are a command of another program. */
  readonly rest: readonly string[]
}

/** Throws `wrongUsage` for what it does not know. */
export function parse({ own: argv, rest }: Line): Parsed {
  const command = findMeant(commands, leadingWords(argv))
  const options = { ...globalOptions, ...command?.options }
  const { values, positionals } = parsedBy(command, options, argv)
  const named = positionals.slice(command ? command.name.split(' ').length : 0)
  // Where no other program is run, `--` ends the options: a name may begin with a dash.
  const hands = command?.rest !== undefined
  const own = hands ? named : [...named, ...rest]
  if (command && !values.help) {
    requireCount(command, own)
    requireFilled(command, own, values)
    requireAllowed(command, own, values)
  }
  return { command, values, positionals: own, rest: hands ? rest : [] }
}

function parsedBy(
  command: Command | undefined,
  options: Readonly<Record<string, Option>>,
  argv: readonly string[],
) {
  try {
    return parseArgs({ args: withEmpty(argv, options), options, allowPositionals: true, strict: true })
  } catch (error) {
    throw wrongOption(error, Object.keys(options), command)
  }
}

/** An option whose value may be left out: what follows is one unless it is an option itself, or has more words than one. */
function withEmpty(argv: readonly string[], options: Readonly<Record<string, Option>>): string[] {
  return argv.map((arg, index) => {
    const next = argv[index + 1]
    const isAlone = next === undefined || next.startsWith('-') || /\s/.test(next)
    return arg.startsWith('--') && options[arg.slice(2)]?.bare && isAlone ? `${arg}=` : arg
  })
}

/** The first words that are neither options nor the values of global ones. */
function leadingWords(argv: readonly string[]): string[] {
  const words: string[] = []
  for (let index = 0; index < argv.length && words.length < 2; index++) {
    const arg = argv[index] ?? ''
    if (arg === '-C' || arg === '--directory') index++
    else if (!arg.startsWith('-')) words.push(arg)
    else if (words.length > 0) break
  }
  return words
}

function wrongOption(error: unknown, known: string[], command: Command | undefined): AppError {
  const message = error instanceof Error ? error.message : String(error)
  const option = /'(-[^' ]*)/.exec(message)?.[1]
  const help = `offshoot ${command ? `${command.name} ` : ''}--help shows the options.`
  if ((error as NodeJS.ErrnoException).code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option !== undefined) {
    const near = nearest(option.replace(/^-+/, ''), known)
    const hint = near === undefined ? help : `Did you mean: --${near}`
    const where = command ? `\`${command.name}\`: unknown` : 'Unknown'
    return new AppError('wrongUsage', `${where} option ${option}.`, { hint, cause: error })
  }
  return new AppError('wrongUsage', message.split('\n')[0] ?? message, { hint: help, cause: error })
}

/** `accept`: missing argument TASK. The hint is the usage line. */
function wrongUsage(command: Command, problem: string): AppError {
  return new AppError('wrongUsage', `\`${command.name}\`: ${problem}.`, {
    hint: `Usage: offshoot ${usageOf(command)}`,
  })
}

function requireCount(command: Command, positionals: readonly string[]): void {
  const missing = command.args[positionals.length]
  if (missing?.required) throw wrongUsage(command, `missing argument ${missing.name}`)
  const extra = command.args.at(-1)?.many ? undefined : positionals[command.args.length]
  if (extra !== undefined) throw wrongUsage(command, `unexpected argument ${JSON.stringify(extra)}`)
}

/** An empty name is a variable of a shell that was not set: whatever it fits is not what was meant. */
function requireFilled(command: Command, positionals: readonly string[], values: Values): void {
  const at = positionals.indexOf('')
  if (at !== -1) throw wrongUsage(command, `argument ${argumentAt(command, at)?.name} is empty`)
  for (const [name, { value }] of Object.entries(command.options))
    if ((value === 'TASK' || value === 'PATH') && [values[name]].flat().includes(''))
      throw wrongUsage(command, `option --${name} is empty`)
}

/** An option or argument with a list of values takes no other. */
function requireAllowed(command: Command, positionals: readonly string[], values: Values): void {
  for (const [name, option] of Object.entries(command.options))
    requireKnown(option, [values[name]].flat(), `--${name}`)
  for (const [at, word] of positionals.entries()) {
    const argument = argumentAt(command, at)
    if (argument) requireKnown(argument, [word], argument.name)
  }
}

function requireKnown(
  { values, noun }: Pick<Option, 'values' | 'noun'>,
  found: readonly unknown[],
  name: string,
): void {
  for (const value of found)
    if (values && typeof value === 'string' && !values.includes(value))
      throw new AppError('wrongUsage', `Unknown ${noun ?? name} ${JSON.stringify(value)}.`, {
        hint: `One of: ${values.join(', ')}`,
      })
}

function argumentAt({ args }: Command, at: number): Positional | undefined {
  return args[at] ?? (args.at(-1)?.many ? args.at(-1) : undefined)
}
