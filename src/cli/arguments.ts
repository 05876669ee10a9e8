/** Reads a command line: which command it names, with which options and arguments (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md). */
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

/** The global flags, also from a line with a usage error: `--json` and `--no-color` decide how that error is printed. */
export function readGlobals({ own }: Line): Values {
  // In `start -C --json` the folder is missing: if -C took a value here, it would swallow --json.
  const { directory: _, ...options } = globalOptions
  return parseArgs({ args: [...own], options, strict: false }).values
}

export interface Parsed {
  readonly command: Command | undefined
  readonly values: Values
  readonly positionals: string[]
  /** The words after `--`, where they are the command of another program. */
  readonly rest: readonly string[]
}

/** Throws `wrongUsage` for an unknown command, option, argument or value. */
export function parse({ own: argv, rest }: Line): Parsed {
  const line = rest.length > 0 ? [...argv, '--', ...rest] : argv
  const command = findMeant(commands, leadingWords(argv), line)
  const options = { ...globalOptions, ...command?.options }
  const { values, positionals } = parsedBy(command, options, argv)
  const named = positionals.slice(command ? command.name.split(' ').length : 0)
  // Unless the command runs another program, `--` only ends the options, so a name may begin with a dash.
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
    throw wrongOption(error, options, command)
  }
}

/** Gives `--resume` an empty value where it stands alone: before another option, or before a prompt of several words. */
function withEmpty(argv: readonly string[], options: Readonly<Record<string, Option>>): string[] {
  return argv.map((arg, index) => {
    const next = argv[index + 1]
    const isAlone = next === undefined || next.startsWith('-') || /\s/.test(next)
    return arg.startsWith('--') && options[arg.slice(2)]?.bare && isAlone ? `${arg}=` : arg
  })
}

/** The first two words that are neither options nor the folder of -C. */
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

/** Words a refusal of Node's `parseArgs` as our error: `accept`: option --as needs a value. */
function wrongOption(
  error: unknown,
  options: Readonly<Record<string, Option>>,
  command: Command | undefined,
): AppError {
  const message = error instanceof Error ? error.message : String(error)
  const { code } = error as NodeJS.ErrnoException
  const option = /'(?:-\w, )?(-[^' ]*)/.exec(message)?.[1] ?? ''
  const name = option.replace(/^-+/, '')
  const help = `offshoot ${command ? `${command.name} ` : ''}--help shows the options.`
  const where = command ? `\`${command.name}\`: ` : ''
  const wrong = (problem: string, hint: string) =>
    new AppError('wrongUsage', `${where}${where === '' ? capital(problem) : problem}.`, {
      hint,
      cause: error,
    })
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const near = nearest(name, Object.keys(options))
    return wrong(`unknown option ${option}`, near === undefined ? help : `Did you mean: --${near}`)
  }
  const { type, values } = options[name] ?? {}
  if (type === 'boolean') return wrong(`option ${option} takes no value`, help)
  const hint = values ? allowedValues(option, values) : help
  return wrong(`option ${option} needs a value`, hint)
}

const capital = (words: string) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`

const allowedValues = (name: string, values: readonly string[]) =>
  `${name} takes one of: ${values.join(', ')}`

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

/** Refuses an empty name: it comes from an unset variable of a shell, and whatever it matched would be the wrong task. */
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
        hint: allowedValues(name, values),
      })
}

function argumentAt({ args }: Command, at: number): Positional | undefined {
  return args[at] ?? (args.at(-1)?.many ? args.at(-1) : undefined)
}
