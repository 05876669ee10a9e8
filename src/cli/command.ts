import type { Emit } from '../api/views.ts'
import type { ActionName, Input, Output } from '../protocol/actions.ts'
import type { Paint } from './output.ts'

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  /** It may stand without a value, which is then empty. */
  readonly optional?: boolean
  /** What the value is called in the help. */
  readonly value?: string
  readonly help: string
}

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

/** What a command is handed. */
export interface Context {
  /** The folder of -C, or the current one. */
  readonly dir: string
  readonly values: Values
  readonly positionals: readonly string[]
  /** What follows `--`. */
  readonly rest: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The state folder. */
  readonly home: string
  readonly signal: AbortSignal
  readonly paint: Paint
  readonly colored: boolean
  /** Progress for a person, on stderr; nothing with --quiet or --json. What others wrote must be made printable before. */
  tell(line: string): void
  call<A extends ActionName>(action: A, input: Input<A>, emit?: Emit): Promise<Output<A>>
  /** Prints an event as one line of JSON. */
  emit: Emit
}

/** What a command answers: for a program and for a person. */
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
  /** What follows the name in the usage line, besides the options. */
  readonly args?: string
  /** How many positionals it takes. */
  readonly takes?: readonly [least: number, most: number]
  readonly options?: Readonly<Record<string, Option>>
  readonly examples: readonly string[]
  /** Words that complete the first argument. */
  readonly completes?: 'tasks' | readonly string[]
  load(): Promise<(context: Context) => Promise<Answer>>
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
