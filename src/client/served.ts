/**
 * Command lines that a running daemon may play for the `offshoot` command, and what is said between the two. Every start of
 * the command reads this file, so it imports nothing (docs/adr/0067-a-command-line-played-by-the-daemon.md).
 */

/** By its first word. No program of the user's runs in these, and none needs the terminal but for a question and its answer. */
const served: ReadonlySet<string> = new Set([
  'accept',
  'checkpoint',
  'diff',
  'list',
  'log',
  'reject',
  'rewind',
  'show',
  'status',
  'undo',
])

/** Those that change nothing, so that they can be repeated when the daemon dies in the middle. */
const looking: ReadonlySet<string> = new Set(['diff', 'list', 'log', 'show', 'status'])

/** Those whose answer goes through the user's pager at a terminal. */
const paged: ReadonlySet<string> = new Set(['diff', 'log', 'show'])

/** `offshoot` alone shows the status. */
const firstOf = ([first = 'status']: readonly string[]) => first

export const isLooking = (argv: readonly string[]) => looking.has(firstOf(argv))
export const isPaged = (argv: readonly string[]) => paged.has(firstOf(argv))

/**
 * Whether the daemon may play the line. It has not the ports of a folder that the line names, not the user's stdin, and not the
 * environment in which the hooks of a repository and the tool of a pull request run.
 */
export function isServed(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!served.has(firstOf(argv)) || argv.some(isOwn)) return false
  return !Object.keys(env).some((name) => own.test(name))
}

/** Variables that change what a command does, and that the daemon is not told. Of git's, the others are about servers and screens. */
const own = /^(?:OFFSHOOT_(?!HOME$)|GIT_(?!SSL_|SSH|ASKPASS$|EDITOR$|PAGER$|TERMINAL_PROMPT$)|CI$)/

/** An argument that only the process itself can follow. */
const isOwn = (word: string, at: number, argv: readonly string[]) =>
  /^(?:-C|--directory|--hooks|--hunks|--as=pr$|--$)/.test(word) || (word === 'pr' && argv[at - 1] === '--as')

/** The variables that git and a command read: where they differ from those of the daemon, it plays nothing. */
export const comparedVariables = [
  'HOME',
  'LANG',
  'LC_ALL',
  'PATH',
  'SSH_AUTH_SOCK',
  'TZ',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
] as const

export interface Screen {
  readonly isTerminal: boolean
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/** The first line that the command sends. */
export interface Asked {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly version: string
  /** Those of `comparedVariables`, and `NO_COLOR`. */
  readonly env: Readonly<Record<string, string>>
  readonly stdout: Screen
  readonly stderr: Screen
  /** Somebody is there to answer a question. */
  readonly canAsk: boolean
}

/** A later line of the command: the user has cancelled, or answered. */
export type Reply = { readonly interrupt: true } | { readonly said: string }

/** A line of the daemon. After `exit` comes none. */
export type Frame =
  | { readonly out: string }
  | { readonly err: string }
  | { readonly ask: string }
  | { readonly exit: number }
