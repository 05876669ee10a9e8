/** The commands that a shell line runs, also by way of other programs: `env`, `xargs`, `sh -c`, `eval`, `git -c`. Pure. */
import path from 'node:path'
import {
  hole,
  isKnown,
  type ReadShell,
  type ShellCommand,
  type ShellLine,
  tooDeep,
  unreadable,
} from '../base/shell.ts'
import { shellWord } from '../base/shell-quote.ts'

export interface ShellRuns {
  readonly line: ShellLine
  /** Every command of the line, and every command that one of them is known to start. */
  readonly commands: readonly ShellCommand[]
  /** Why not all of it is known. */
  readonly unread: string | undefined
  /** There are too many ways to read it: not every command that it may start is among these. */
  readonly overfull: boolean
  /** All of its text without quotes, where it holds a construct that takes text for code. */
  readonly evaluated: string | undefined
}

const deepest = 8
/** Characters of all that a line may start. A line can be written so that they multiply with each program in it. */
const mostStarted = 1024 * 1024

export function shellRuns(text: string, read: ReadShell): ShellRuns {
  const line = read(text)
  const found = { commands: [] as ShellCommand[], unread: line.unread, overfull: line.unread === tooDeep }
  let left = mostStarted
  const takes = (words: readonly string[]) => {
    for (const word of words) left -= word.length + 1
    found.overfull ||= left < 0
    return left >= 0
  }
  const add = (command: ShellCommand, depth: number) => {
    found.commands.push(command)
    found.overfull ||= isOverfull(programOf(command), command.words.slice(1))
    if (found.overfull) return
    const { scripts, commands, unread } = startedBy(command)
    found.unread ??= unread
    if (depth > deepest) {
      found.overfull ||= scripts.length + commands.length > 0
      return
    }
    for (const words of commands.filter(takes))
      add({ ...command, words, written: words, assigned: [], redirects: [] }, depth + 1)
    for (const script of scripts.filter((one) => takes([one]))) {
      const inner = isKnown(script) ? read(script) : undefined
      found.unread ??= inner ? inner.unread : 'it runs text that is put together while it runs'
      found.overfull ||= inner?.unread === tooDeep
      for (const one of inner?.commands ?? []) add(one, depth + 1)
    }
  }
  for (const command of line.commands) add(command, 0)
  const inTexts = quotedScripts(text)
  for (const script of inTexts.filter((one) => takes([one])))
    for (const one of read(script).commands) add(one, 1)
  const bare = text.replace(/['"\\]/g, '')
  if (renames.test(bare)) found.unread ??= 'it gives programs other names'
  return {
    line,
    ...found,
    unread: found.unread ?? (found.overfull ? overfull : undefined),
    evaluated: evaluates.test(text) || inTexts.length > 0 ? bare : undefined,
  }
}

/** Of a call whose command is no text. */
export const unknownRuns: ShellRuns = {
  line: unreadable(tooDeep),
  commands: [],
  unread: 'its command is no text',
  overfull: true,
  evaluated: undefined,
}

/** By these variables of bash, and by these commands, a word runs another program than the one it names. */
const renames =
  /\b(?:BASH_CMDS|BASH_ALIASES|BASH_ENV|PROMPT_COMMAND)\b|\bhash\s+-\w*p|\balias\s+[^\s;&|]+=|\benable\s+-\w*f/
/** Builtins of bash that take a text for code. */
const evaluates =
  /(?:^|[\s;&|(){}`'"\\])(?:eval|trap|alias|hash|jobs|compgen|complete|mapfile|readarray|enable|wait|let|declare|typeset|local|read|unset)\s|\bprintf\s+-v|\$'[^']*\\/
/** Where bash counts, the index of an array is code even in quotes: `[[ 'a[$(x)]' -eq 1 ]]`. */
const counts =
  /\[\[|\(\(|(?:^|[\s;&|(){}`])(?:\[|test|let|declare|typeset|local|export|readonly|printf|read|wait|unset|mapfile|readarray|compgen|complete)\s|\]=|\[['"\\]/

const isCode = /\$\(|`/

function quotedScripts(text: string): readonly string[] {
  if (!isCode.test(text) || !counts.test(text)) return []
  const inQuotes = text.match(/'[^']*'/g) ?? []
  const escaped = text.match(/\\(?:\$\(|`)[^"\n]*/g) ?? []
  return [
    ...inQuotes.flatMap((one) => (isCode.test(one) ? [`: ${one.slice(one.search(isCode), -1)}`] : [])),
    ...escaped.map((one) => `: ${one.replaceAll('\\', '')}`),
  ]
}

export const overfull = 'there are too many ways to read it'

/** The program without its folder, in small letters: some file systems do not tell them apart. */
export const programOf = ({ words }: Pick<ShellCommand, 'words'>) =>
  path.posix.basename(words[0] ?? '').toLowerCase()

interface Started {
  readonly scripts: readonly string[]
  readonly commands: readonly (readonly string[])[]
  readonly unread?: string | undefined
}

const setOf = (words: string) => new Set(words.split(' '))

export const shells = setOf('sh bash dash zsh ksh mksh ash fish rbash')

/** Programs that start the command among their words. */
const wrappers = setOf(
  'env command builtin exec nohup nice ionice time timeout gtimeout sudo doas pkexec stdbuf setsid chrt taskset xargs ' +
    'gxargs parallel watch strace ltrace busybox toybox npx bunx pnpx flock script su runuser unshare nsenter chroot ' +
    'setpriv systemd-run systemd-inhibit dbus-run-session xvfb-run firejail bwrap faketime rlwrap unbuffer caffeinate ' +
    'setarch linux64 linux32 torsocks proxychains proxychains4 chronic nocorrect noglob then do else coproc entr ' +
    'dotenv direnv rtk prlimit cpulimit numactl catchsegv valgrind catatonit tini dumb-init gosu su-exec capsh unclutter jobs ' +
    'fakeroot proot chpst softlimit envdir cross-env corepack',
)

/** Programs of which a subcommand starts the words after it. */
const runners: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: setOf('exec x'),
  pnpm: setOf('exec dlx'),
  yarn: setOf('exec dlx run'),
  bun: setOf('x exec run'),
  uv: setOf('run'),
  poetry: setOf('run'),
  pipenv: setOf('run'),
  pdm: setOf('run'),
  rye: setOf('run'),
  hatch: setOf('run'),
  conda: setOf('run'),
  bundle: setOf('exec'),
  mise: setOf('exec x'),
  rbenv: setOf('exec'),
  pyenv: setOf('exec'),
  asdf: setOf('exec'),
  rustup: setOf('run'),
  opam: setOf('exec'),
  'git-bisect': setOf('run'),
}

function startedBy(command: ShellCommand): Started {
  const program = programOf(command)
  const words = command.words.slice(1)
  if (shells.has(program)) return byShell(command, words)
  if ((program === 'source' || program === '.') && isStandardInput(words[0] ?? ''))
    return byShell(command, [])
  const scripts = [...scriptOptions(program, words), ...scriptWords(program, words)]
  return { scripts, commands: startedCommands(program, words) }
}

function byShell({ redirects, piped }: ShellCommand, words: readonly string[]): Started {
  const at = words.findIndex(
    (word) => (/^[-+][A-Za-z]+$/.test(word) && word.includes('c')) || word === '--command',
  )
  if (at !== -1) return { scripts: scriptsAt(words, at), commands: [] }
  const file = positionals(words).filter((word) => !isStandardInput(word))
  if (file.length > 0) return { scripts: [], commands: [], unread: unknownFile(file) }
  const here = redirects.filter(({ operator }) => operator.startsWith('<<'))
  const elsewhere = piped || redirects.some(({ operator }) => operator === '<' || operator === '<&')
  return {
    scripts: here.map(({ target }) => target),
    commands: [],
    unread: elsewhere && here.length === 0 ? 'a shell reads its commands from elsewhere' : undefined,
  }
}

/** Each `o` beside the `c` takes a word of its own before the script: `-co pipefail 'npm test'`. */
function scriptsAt(words: readonly string[], at: number): readonly string[] {
  const taken = (words[at]!.match(/o/gi) ?? []).length
  const places = words[at] === '--command' ? [0] : Array.from({ length: Math.min(taken, 8) + 1 }, (_, n) => n)
  return [...new Set(places.flatMap((n) => scriptAfter(words.slice(at + 1 + n))))]
}

const isStandardInput = (file: string) => /^(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/self\/fd\/.*)$/.test(file)

/** A script that is put together, as `bash <(…)`. */
const unknownFile = ([file = '']: readonly string[]) =>
  isKnown(file) ? undefined : 'a shell runs what another command prints'

/** After `-c`: the script is the first word that is no option or the value of one (`-o pipefail`). */
function scriptAfter(words: readonly string[]): readonly string[] {
  return starts(words, () => false).flatMap(([first]) => (first === undefined ? [] : [first]))
}

function scriptWords(program: string, words: readonly string[]): readonly string[] {
  switch (program) {
    case 'eval':
      return words.length > 0 ? [words.slice(words[0] === '--' ? 1 : 0).join(' ')] : []
    case 'env':
      return splitByEnv(words)
    case 'watch':
    case 'parallel':
    case 'entr':
      return starts(words, () => false).map((rest) => rest.join(' '))
    case 'trap':
      return positionals(words).slice(0, 1)
    case 'alias':
      return words.filter((word) => word.includes('=')).map((word) => word.slice(word.indexOf('=') + 1))
    case 'git':
      return words.flatMap((word) => /^alias\.[^=]*=!(.*)$/is.exec(word)?.[1] ?? [])
    case '.':
    case 'source':
      return words[0] !== undefined && !isKnown(words[0]) ? [words[0]] : []
    default:
      return []
  }
}

const scriptTakers: Readonly<Record<string, RegExp>> = {
  npx: /^(?:-c|--call)(?:=(.*))?$/s,
  npm: /^(?:-c|--call)(?:=(.*))?$/s,
  script: /^(?:-\w*?c|--command(?==|$))=?(.+)?$/s,
  sg: /^-\w*?c(.+)?$/s,
  su: /^(?:-\w*?c|--(?:session-)?command(?==|$))=?(.+)?$/s,
  runuser: /^(?:-\w*?c|--(?:session-)?command(?==|$))=?(.+)?$/s,
  flock: /^(?:-\w*?c|--command(?==|$))=?(.+)?$/s,
  'nix-shell': /^(?:--run|--command)(?:=(.*))?$/s,
  mapfile: /^-\w*?C(.+)?$/s,
  readarray: /^-\w*?C(.+)?$/s,
  compgen: /^-\w*?[CW](.+)?$/s,
  complete: /^-\w*?[CW](.+)?$/s,
  git: /^(?:-x|--exec|--tree-filter|--index-filter|--msg-filter|--env-filter|--extcmd)(?:=(.*))?$/s,
}

function scriptOptions(program: string, words: readonly string[]): readonly string[] {
  const taker = scriptTakers[program]
  if (!taker) return []
  return words.flatMap((word, at) => {
    const match = taker.exec(word)
    const script = match && (match[1] ?? words[at + 1])
    return script === undefined || script === null ? [] : [script]
  })
}

/** `env -S` takes a text apart as a line of its own, with options of env first and the other words behind. */
function splitByEnv(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => splitter.test(word))
  if (at === -1) return []
  const joined = splitter.exec(words[at]!)?.[1]
  const [text = '', ...rest] = [...(joined === undefined ? [] : [joined]), ...words.slice(at + 1)]
  return [`env ${text.replace(/\\[_fnrtvc]/g, ' ')} ${rest.map(shellWord).join(' ')}`]
}

const splitter = /^(?:-\w*?S|--s[a-z-]*(?==|$))=?(.+)?$/s

const isFinder = (program: string) => /^g?find$|^fd(?:find)?$/.test(program)
const executes = setOf('-exec -execdir -ok -okdir -x -X --exec --exec-batch')

function startedCommands(program: string, words: readonly string[]): readonly (readonly string[])[] {
  // `command -v npm` only looks for it.
  if (program === 'command' && /^-\w*[vV]/.test(words[0] ?? '')) return []
  if (appenders.has(program)) return startedWithMore(words)
  if (wrappers.has(program)) return startedByWrapper(program, words)
  // The names that it finds take the place of `{}`.
  if (isFinder(program))
    return words.flatMap((word, at) =>
      executes.has(word) ? [words.slice(at + 1).map((one) => one.replaceAll('{}', hole.glob))] : [],
    )
  if (program === 'git') return startedByGit(words)
  const verbs = runners[program]
  if (!verbs) return []
  return starts(words).flatMap(([verb = '', ...rest]) => (verbs.has(verb) ? starts(rest) : []))
}

/** Programs that add words of their own to the command. */
const appenders = setOf('xargs gxargs parallel')

/** As it is written, and with what it is given: at its end, and in the place of a word such as `{}`. */
function startedWithMore(words: readonly string[]): readonly (readonly string[])[] {
  const given = words.indexOf(':::')
  const token = words.map(
    (word, at) => /^(?:-I|--replace=)(.*)$/.exec(word) && (word.slice(2) || words[at + 1]),
  )
  const tokens = ['{}', ...token.filter((one) => typeof one === 'string' && one !== '')]
  const filled = (word: string) =>
    tokens.reduce<string>((text, one) => text.replaceAll(one ?? '{}', hole.any), word)
  return starts(given === -1 ? words : words.slice(0, given)).flatMap((command) => [
    command,
    [...command.map(filled), hole.any],
  ])
}

/** Wrappers with a word of their own before the command: a folder, a lock, a user. */
const withOneBefore = setOf(
  'envdir chroot flock gosu su-exec su direnv dotenv setarch bwrap faketime taskset',
)

function startedByWrapper(program: string, words: readonly string[]): readonly (readonly string[])[] {
  const first = starts(words)
  return withOneBefore.has(program) ? [...first, ...first.flatMap(([, ...rest]) => starts(rest))] : first
}

function startedByGit(words: readonly string[]): readonly (readonly string[])[] {
  const aliases = words.flatMap((word) => /^alias\.[^=]*=([^!].*)$/is.exec(word)?.slice(1) ?? [])
  const called = starts(words).flatMap(([verb, ...rest]) => {
    const at = verb === 'bisect' ? rest.indexOf('run') : verb === 'submodule' ? rest.indexOf('foreach') : -1
    return at === -1 ? [] : starts(rest.slice(at + 1))
  })
  return [...called, ...aliases.map((alias) => ['git', ...alias.split(' ')])]
}

const isOption = (word: string) => /^[-+]/.test(word)
/** What stands between a wrapper and its command: `A=b`, `10s`, a mask, `{}`, `--`. */
const isFiller = (word: string) => /^(?:\w+=.*|[\d.]+[a-z]?|0x[\da-f]+|\{\}|--)$/is.test(word)

/**
 * Where the command, or the subcommand, may begin after options: nobody knows the options of every program, so after an
 * option both the next word and the one behind it count. `-u bob npm test` begins at `bob` or at `npm`.
 */
export function starts(
  words: readonly string[],
  isBetween: (word: string) => boolean = isFiller,
): readonly (readonly string[])[] {
  const found = startsAt(words, isBetween)
  return found.slice(0, mostStarts(words)).map((at) => words.slice(at))
}

/** The same as places in the words, all of them. */
export function startsAt(
  words: readonly string[],
  isBetween: (word: string) => boolean = isFiller,
): readonly number[] {
  const found: number[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (isOption(word) || isBetween(word)) continue
    found.push(at)
    const before = words[at - 1]
    if (before === undefined || !isOption(before) || before === '--' || before.includes('=')) break
  }
  return found
}

/** Each start is a command of its own with all words after it, so many words have fewer starts. */
const mostStarts = ({ length }: readonly string[]) => Math.max(1, Math.min(50, 100_000 / length))
/** Each word of a program that adds words may be a name for them, to be looked for in each other word. */
const mostFilled = 200

function isOverfull(program: string, words: readonly string[]): boolean {
  const most = mostStarts(words)
  if ([isFiller, () => false].some((isBetween) => startsAt(words, isBetween).length > most)) return true
  if (appenders.has(program)) return words.length > mostFilled
  return isFinder(program) && words.filter((word) => executes.has(word)).length > most
}

const positionals = (words: readonly string[]) => words.filter((word) => !isOption(word) && word !== '--')
