/** Shell lines taken apart by the package `unbash`, which is loaded with the first command that an agent wants to run (docs/adr/0034-commands-are-parsed.md). */
import type * as unbash from 'unbash'

/**
 * In a word that was read, each of these stands for a part that only the shell knows: any text at all, the names that a
 * `*` finds in one folder, and the user's home.
 */
export const hole = { any: '\uFDD0', glob: '\uFDD1', home: '\uFDD2' } as const
/** Stands between words where they are one text. */
export const gap = '\uFDD3'

const holes = /[\uFDD0-\uFDD2]/
/** What no line may have in it: the characters above, which no text has, and those that control a terminal or a shell. */
const controls = /(?![\t\n])[\p{Cc}\uFDD0-\uFDD3]/u
const longestLine = 64 * 1024

export const isKnown = (word: string) => !holes.test(word)

export interface ShellRedirect {
  readonly operator: string
  /** The file, the descriptor, or the text of a here-document. */
  readonly target: string
}

/** One simple command: a program and its words, wherever in a line it is. */
export interface ShellCommand {
  /** The program first, all without quotes. Empty where variables are set and nothing is run. */
  readonly words: readonly string[]
  /** The same words as they were written, with their quotes. */
  readonly written: readonly string[]
  readonly assigned: readonly { readonly name: string; readonly value: string }[]
  readonly redirects: readonly ShellRedirect[]
  /** Its input is the output of another command. */
  readonly piped: boolean
}

export interface ShellLine {
  readonly commands: readonly ShellCommand[]
  /** Nothing but commands with known words, one after the other: no substitution, variable, loop, function or comment. */
  readonly plain: boolean
  /** Why the line, or a part of it, could not be read. */
  readonly unread: string | undefined
  /** A function that starts itself twice. */
  readonly endless: boolean
}

export type ReadShell = (line: string) => ShellLine

export async function loadShell(): Promise<ReadShell> {
  const { parse, forEachChild } = await import('unbash')
  return (line) => {
    if (line.length > longestLine || depthOf(line) > deepest) return unreadable(tooDeep)
    if (controls.test(line)) return unreadable('it has control characters')
    try {
      const script = parse(line)
      const found: Found = { commands: [], unread: undefined, endless: false }
      collect(script, false, found, forEachChild)
      return { ...found, plain: found.unread === undefined && isPlain(script, line) }
    } catch {
      // No stack is deep enough for every line, and whatever else the parser throws, the line is not read.
      return unreadable(tooDeep)
    }
  }
}

const deepest = 100

/** How many brackets are open at once, whether quoted or not: the parser takes long to find that there are too many. */
function depthOf(line: string): number {
  let [depth, most] = [0, 0]
  for (const [bracket] of line.matchAll(/[(){}]/g)) {
    depth = Math.max(0, depth + (bracket === '(' || bracket === '{' ? 1 : -1))
    most = Math.max(most, depth)
  }
  return most
}

/** Beyond a limit nothing at all is known of a line, so that it may also be dangerous. */
export const tooDeep = 'it is too long, or nested too deep'

export const unreadable = (unread: string): ShellLine => ({
  commands: [],
  plain: false,
  unread,
  endless: false,
})

interface Found {
  readonly commands: ShellCommand[]
  unread: string | undefined
  endless: boolean
}

type EachChild = typeof unbash.forEachChild

/** Visits every node, also those in substitutions, which have errors of their own. */
function collect(node: unbash.SyntaxNode, piped: boolean, found: Found, each: EachChild): void {
  if (node.type === 'Script' && node.errors?.[0]) found.unread ??= node.errors[0].message
  if (node.type === 'Script' && node.errors?.some(isLimit)) found.unread = tooDeep
  if (node.type === 'Command') found.commands.push(commandOf(node, piped))
  if (node.type === 'Function' && timesCalled(node, node.name.value, each) > 1) found.endless = true
  let later = false
  each(node, (child) => {
    collect(child, piped || (node.type === 'Pipeline' && later), found, each)
    later ||= child.type !== 'Time' && child.type !== 'Negation'
  })
}

const isLimit = ({ message }: { readonly message: string }) => message.includes('nesting depth exceeded')

function timesCalled(node: unbash.SyntaxNode, name: string, each: EachChild): number {
  let times = node.type === 'Command' && node.name?.value === name ? 1 : 0
  each(node, (child) => void (times += timesCalled(child, name, each)))
  return times
}

function commandOf({ name, args, prefix, redirects }: unbash.Command, piped: boolean): ShellCommand {
  const words = name ? [name, ...args] : args
  return {
    words: words.map((word) => (word.type === 'Word' ? textOf(word) : `${word.name}=${valueOf(word)}`)),
    written: words.map((word) => word.text),
    assigned: prefix.flatMap((one) =>
      one.type === 'Assignment' ? [{ name: one.name, value: valueOf(one) }] : [],
    ),
    redirects: redirects.map(redirectOf),
    piped,
  }
}

function valueOf({ value, index }: unbash.Assignment): string {
  return value.type === 'Word' && index === undefined ? textOf(value) : hole.any
}

function redirectOf(redirect: unbash.Redirection): ShellRedirect {
  const { operator } = redirect
  if (redirect.type !== 'HereDoc')
    return { operator, target: redirect.target ? textOf(redirect.target) : hole.any }
  const { parts, text } = redirect.body
  return { operator, target: parts ? parts.map(partText).join('') : text }
}

function textOf(word: unbash.Word): string {
  if (word.text === '~' || word.text.startsWith('~/')) return hole.home + restOf(word).slice(1)
  // `~user`, and `--file=~/x`, which some shells expand.
  if (/^~|[=:]~/.test(word.text)) return hole.any
  return restOf(word)
}

const restOf = ({ parts, value }: unbash.Word) => parts?.map(partText).join('') ?? value

function partText(part: unbash.WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      // A quoted control character would be taken for a hole.
      return controls.test(part.value) ? hole.any : part.value
    case 'AnsiCQuoted':
      // The parser does not know these escapes.
      return controls.test(part.value) || /\\(?:x\{|c)/.test(part.text) ? hole.any : part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map(partText).join('')
    case 'Glob':
      return hole.glob
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return part.text === '$HOME' || part.text === '${HOME}' ? hole.home : hole.any
    default:
      return hole.any
  }
}

/** Only commands, and `;`, `&&`, `||`, `|` or a new line between them. What is no word and no operator is a comment. */
function isPlain(script: unbash.Script, line: string): boolean {
  const commands = script.commands.map(({ command, background }) => (background ? [] : simple(command)))
  if (commands.some((some) => some.length === 0)) return false
  const all = commands.flat()
  return (
    /^[\s;&|]*$/.test(without(line, 0, line.length, all)) &&
    all.every((command) => {
      const parts = [...(command.name ? [command.name] : []), ...command.prefix, ...command.suffix]
      return (
        /^[ \t]*$/.test(without(line, command.pos, command.end, parts)) &&
        commandOf(command, false).words.every((word) => !word.includes(hole.any))
      )
    })
  )
}

/** The simple commands of a list or a pipeline; none where there is anything else among them. */
function simple(node: unbash.PipelineNode | unbash.AndOr): unbash.Command[] {
  if (node.type === 'Command') return [node]
  if (node.type !== 'AndOr' && (node.type !== 'Pipeline' || node.prefixes.length > 0)) return []
  const parts = node.commands.map(simple)
  return parts.some((some) => some.length === 0) ? [] : parts.flat()
}

interface Span {
  readonly pos: number
  readonly end: number
}

/** The text from `pos` to `end` without these parts of it. */
function without(line: string, pos: number, end: number, parts: readonly Span[]): string {
  const sorted = parts.toSorted((one, other) => one.pos - other.pos)
  const starts = [pos, ...sorted.map((part) => part.end)]
  return starts.map((from, n) => line.slice(from, sorted[n]?.pos ?? end)).join('')
}
