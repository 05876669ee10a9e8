/** The types of a command: its row in the table, what it receives, what it answers. */
import type { Group, Option as Field, Suggestions } from '../actions/action.ts'
import type { ActionName } from '../actions/index.ts'
import type { Call } from '../api/call.ts'
import type { Caller } from '../api/caller.ts'
import type { FollowedEvent } from '../api/follow.ts'
import type { Emit } from '../api/views.ts'
import type { Input, Output } from '../protocol/schemas/index.ts'
import type { Cancel } from './cancel.ts'
import type { Paint } from './output.ts'
import type { Shell } from './shell.ts'

/** A flag as `parseArgs` of Node reads it, with its help and its words for completion. */
export interface Option extends Pick<Field, 'help' | 'value' | 'values' | 'noun' | 'suggests'> {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  /** The value may be left out; it is then empty. */
  readonly bare?: true
}

/** A positional argument. */
export interface Positional {
  /** Its name in usage lines and errors: `TASK`. */
  readonly name: string
  readonly required?: true
  /** Any number of them, at the end. */
  readonly many?: true
  readonly values?: readonly string[]
  readonly noun?: string
  readonly suggests?: Suggestions
}

/** The options that every command has. */
export const globalOptions: Readonly<Record<string, Option>> = {
  directory: { type: 'string', short: 'C', value: 'DIR', help: 'work as if started in DIR' },
  json: { type: 'boolean', help: 'answer with one JSON object' },
  quiet: { type: 'boolean', short: 'q', help: 'no progress' },
  verbose: { type: 'boolean', help: 'more about errors' },
  'no-color': { type: 'boolean', help: 'no colours' },
  help: { type: 'boolean', short: 'h', help: 'show help' },
  version: { type: 'boolean', short: 'v', help: 'show the version' },
}

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

/** Everything that a command receives from `main`. */
export interface Context {
  /** The folder of -C, or the current one. */
  readonly dir: string
  readonly values: Values
  readonly positionals: readonly string[]
  /** The words after `--`. */
  readonly rest: readonly string[]
  readonly shell: Shell
  /** That of the shell. */
  readonly env: NodeJS.ProcessEnv
  /** The state folder. */
  readonly home: string
  readonly signal: AbortSignal
  readonly paint: Paint
  readonly colored: boolean
  /** Prints progress for a person on stderr, unless --quiet or --json is given. The caller passes text of agents and files through `printable` first. */
  tell(line: string): void
  /** Prints what a verb tells while it works: the output of hooks, and progress. */
  hear: Emit
  /** The call is cancelled with the command, and by `signal`. */
  call<A extends ActionName>(
    action: A,
    input: Input<A>,
    emit?: Emit,
    signal?: AbortSignal,
  ): Promise<Output<A>>
  /** Every event after `since`, or after the last one, as `events` of the library has them: of the repository of `dir`, or of all. */
  follow(input: {
    readonly dir?: string | undefined
    readonly since?: number | undefined
    readonly signal?: AbortSignal
  }): AsyncIterable<FollowedEvent>
  /**
   * Opens the actions for a server that speaks at stdin and stdout, with a signal for each call. `as` is told who started the
   * server, and answers by what rights its clients act.
   */
  openServer(as: (starter: Caller) => Caller): Promise<{ readonly call: Call; readonly caller: Caller }>
  /** Plays the line of somebody else. */
  readonly play: Play
  /** Prints an object as one line of JSON. */
  emit(line: object): void
  /** Says who has the terminal from now on; without an argument, this command again. */
  useTerminal(by?: Terminal): void
}

/** Everything that a command line meets. */
export interface Place {
  /** The state folder. */
  readonly home: string
  readonly shell: Shell
  readonly cancel: Cancel
  /** `named` is the folder that the line names; `said` hears what verbs tell while they work. */
  open(named: string | undefined, said: Emit): Doors
}

/** The way to the verbs. */
export interface Doors extends Pick<Context, 'call' | 'follow' | 'openServer'> {
  /** The notices that the user has not been told yet. */
  notices(dir: string): Promise<Output<'system.notices'>['notices']>
  close(): Promise<void>
}

/** Runs one command line and answers its exit code. */
export type Play = (argv: readonly string[], place: Place) => Promise<number>

/** A screen, or a program that was started at the terminal. */
export interface Terminal {
  /** Shows what `Context.tell` and `Context.hear` would print on stderr. */
  readonly tell?: (line: string) => void
  /** Takes each Ctrl-C, which then does not cancel the command. */
  readonly onInterrupt?: () => void
}

/** The answer of a command, for a program and for a person. */
export interface Answer {
  readonly json: Record<string, unknown>
  readonly text: string
  /** It may be longer than a screen. */
  readonly long?: true
  readonly exitCode?: number | undefined
}

export interface Command {
  /** `list`, `worktree remove`. */
  readonly name: string
  readonly summary: string
  readonly group: Group
  readonly args: readonly Positional[]
  /** The usage line of another program's command after `--`. Without it, `--` only ends the options. */
  readonly rest?: string
  readonly options: Readonly<Record<string, Option>>
  /** A second name of that command, which help does not list again. */
  readonly aliasOf?: string
  readonly examples: readonly string[]
  /** A program starts it and reads what it prints, so that a notice there would not reach the user. */
  readonly isForPrograms?: true
  /** Of the first word of several commands, which is none by itself: those commands. */
  readonly members?: readonly Command[]
  load(): Promise<(context: Context) => Promise<Answer>>
}

/** `start [TASK]`, `exec TASK -- COMMAND…`, `completion <bash|zsh|fish>` */
export function usageOf({ name, args, rest }: Command): string {
  const words = args.map((arg) => {
    if (arg.values) return arg.required ? `<${arg.values.join('|')}>` : `[${arg.values.join('|')}]`
    const shown = `${arg.name}${arg.many ? '…' : ''}`
    return arg.required ? shown : `[${shown}]`
  })
  return [name, ...words, ...(rest === undefined ? [] : [rest])].join(' ')
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function texts(values: Values, name: string): string[] | undefined {
  const value = values[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true
}

/** One of the allowed values; `parse` has refused any other. */
export function choice<T extends string>(values: Values, name: string, allowed: readonly T[]): T | undefined {
  const value = text(values, name)
  return allowed.find((one) => one === value)
}
