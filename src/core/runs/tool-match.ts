/**
 * Whether a tool call is one that a pattern names. A permission must cover all of a call for sure; a denial must miss no
 * part of it, so it answers `maybe` where nobody can tell (docs/adr/0034-commands-are-parsed.md). Pure.
 */
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import type { PathMatcher } from '../base/pathspec.ts'
import { gap, hole, isKnown, type ShellCommand } from '../base/shell.ts'
import { matchesStars } from '../base/stars.ts'
import { type ToolUse, toolUse } from '../base/tool-list.ts'
import type { ToolKind } from '../model/agent.ts'
import { isStream } from './danger.ts'
import type { KnownCall } from './known-call.ts'
import { lookedAt } from './looking.ts'
import { absolute, guardedName, type PolicyPlace, realOf } from './places.ts'
import { programOf, starts, startsAt } from './shell-runs.ts'

/** Names for a kind of tool in patterns, besides the tool's own name: agents name the same tool differently. */
const kindNames: Record<ToolKind, readonly string[]> = {
  read: ['read'],
  edit: ['edit'],
  shell: ['bash', 'shell'],
  fetch: ['webfetch', 'fetch'],
  other: [],
}

/** The names that a denial knows a call by: a call with a command line is one of a shell, whatever the tool is called. */
function isNamed({ name }: ToolUse, call: KnownCall, wide: boolean): boolean {
  const more = wide && call.runs ? kindNames.shell : []
  const known = [call.name.toLowerCase(), ...kindNames[call.kind], ...more]
  return known.some((one) => matchesStars(name.toLowerCase(), one))
}

/** `Bash` as a whole. */
export function allowsTool(pattern: string, call: KnownCall): boolean {
  const tool = toolUse(pattern)
  return tool.use === undefined && isNamed(tool, call, false)
}

/** Whether these patterns together allow all of the call; `alsoAllowed` are commands that need no pattern. */
export function allowsUse(
  patterns: readonly string[],
  call: KnownCall,
  place: PolicyPlace,
  matcher: PathMatcher,
  alsoAllowed: (command: ShellCommand) => boolean,
): string | undefined {
  const uses = patterns.flatMap((pattern) => {
    const tool = toolUse(pattern)
    return tool.use !== undefined && isNamed(tool, call, false) ? [{ pattern, use: tool.use }] : []
  })
  if (uses.length === 0) return undefined
  if (call.runs) {
    const { line, unread } = call.runs
    if (!line.plain || unread !== undefined) return undefined
    const covers = (command: ShellCommand) =>
      uses.find(({ use }) => coversCommand(use, command))?.pattern ?? (alsoAllowed(command) ? '' : undefined)
    return together(
      line.commands.map((command) => (hasHarmlessRedirects(command) ? covers(command) : undefined)),
    )
  }
  if (call.kind === 'fetch') {
    const covers = (address: string) => uses.find(({ use }) => fitsAddress(use, address))?.pattern
    return together(addressesOf(call).map(covers))
  }
  const covers = (file: string) =>
    uses.find(({ use }) => coversFile(use, file, call, place, matcher))?.pattern
  return together(call.paths.map(covers))
}

/**
 * A pattern from the root or the home is about that path, any other about the workspace alone. To be edited, files of git, of
 * agents and of ours must be named: `Edit(*.json)` is not `Edit(.mcp.json)`.
 */
function coversFile(
  use: string,
  file: string,
  { kind, real }: KnownCall,
  place: PolicyPlace,
  matcher: PathMatcher,
): boolean {
  const guarded = kind === 'edit' ? guardedName(file, place, real) : undefined
  if (guarded !== undefined && !use.toLowerCase().includes(guarded)) return false
  const [relative, full] = namesOf(realOf(file, place, real), place)
  if (/^[/~]/.test(use)) return pathTest(use, place, matcher)(full)
  return isBelow(full, place.workspace) && pathTest(use, place, matcher)(relative)
}

/** The pattern that was found first, if each part was covered by one. */
function together(patterns: readonly (string | undefined)[]): string | undefined {
  if (patterns.includes(undefined)) return undefined
  return patterns.find((pattern) => pattern !== '')
}

/** Only what goes to another descriptor or to nowhere. */
export const hasHarmlessRedirects = ({ redirects }: ShellCommand) =>
  redirects.every(
    ({ operator, target }) =>
      (/^[<>]&$/.test(operator) && /^\d+$/.test(target)) ||
      (/^(?:&?>>?|<|>&)$/.test(operator) && target === '/dev/null') ||
      (/^&?>>?$/.test(operator) && isStream(target) && /std(?:out|err)$/.test(target)),
  )

/** The words as they were written, without quotes, must be those of the pattern. */
function coversCommand(use: string, { words, assigned }: ShellCommand): boolean {
  if (words.length === 0 || words.some((word) => word.includes(hole.any))) return false
  if (!isKnown(words[0] ?? '') || assigned.some(({ value }) => !isKnown(value))) return false
  const set = assigned.map(({ name, value }) => `${name}=${value}`)
  const text = [...set, ...words].join(gap).replaceAll(hole.home, '~')
  return matchesCommand(patternText(use), text)
}

export type Denied = 'yes' | 'maybe' | 'no'

export function denies(pattern: string, call: KnownCall, place: PolicyPlace, matcher: PathMatcher): Denied {
  const tool = toolUse(pattern)
  if (!isNamed(tool, call, true)) return 'no'
  if (tool.use === undefined) return 'yes'
  if (call.runs) return deniesLine(tool.use, call.runs)
  if (call.kind === 'fetch') return some(addressesOf(call), (address) => fitsAddress(tool.use!, address))
  if (call.kind === 'edit' && call.paths.length === 0) return 'maybe'
  const matches = pathTest(tool.use, place, matcher)
  return some(call.paths, (file) => {
    const names = [realOf(file, place, call.real), absolute(file, place)].flatMap((full) =>
      namesOf(full, place),
    )
    return matches(...names) || names.some((name) => matchesAnyCase(tool.use!, name))
  })
}

const some = <T>(items: readonly T[], fits: (item: T) => boolean): Denied => (items.some(fits) ? 'yes' : 'no')

function deniesLine(
  use: string,
  { commands, unread, evaluated = '' }: NonNullable<KnownCall['runs']>,
): Denied {
  const text = patternText(use).toLowerCase()
  const forms = commands.flatMap(formsOf)
  if (forms.some((form) => matchesCommand(text, form.toLowerCase()))) return 'yes'
  const possible = forms.some((form) => !isKnown(form) && (meets(text, form) || meets(text, form + gap)))
  if (possible || unread !== undefined || commands.some((command) => mentions(use, command))) return 'maybe'
  return mentionTest(text)(evaluated) ? 'maybe' : 'no'
}

/** The ways to write one command: with and without its folder, with and without the options before its subcommand. */
function formsOf(command: ShellCommand): readonly string[] {
  const [program = '', ...rest] = command.words
  if (command.words.length === 0) return []
  const names = new Set([program, programOf(command)])
  const forms = [...names].flatMap((name) => [rest, ...starts(rest)].map((words) => formOf([name, ...words])))
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll(hole.home, '~'))])]
}

/** An unknown word may be none or several, so it takes the gaps around it with it. */
const formOf = (words: readonly string[]) =>
  words
    .join(gap)
    .replace(/\s+/g, gap)
    // Only from the first gap of a row: from each of them it would take quadratic time.
    .replace(/(?<!\uFDD3)\uFDD3*\uFDD0[\uFDD0\uFDD3]*/g, hole.any)

/** Programs that only show, compare or move their words, whatever those are. */
const quiet =
  /^(?:echo|e?f?grep|cat|ls|head|tail|wc|mkdir|rmdir|touch|rm|cp|mv|ln|cd|chmod|pushd|which|type|command|true|false|:|return|exit|set|sleep)$/
/** Programs whose first word is a name of theirs, though it may be that of a program too: `git rm`. */
const withVerbs =
  /^(?:git|gh|glab|npm|pnpm|yarn|bun|deno|cargo|go|docker|podman|kubectl|make|just|apt|apt-get|brew|dnf|pip[\d.]*|uv|poetry|gem|bundle|systemctl|man|info|kill|pkill|killall|printf|test|\[)$/

/**
 * Whether the denied command is among its words, in one of them, or in a variable that it sets: nobody knows every program
 * that starts others (`python -c 'run("npm publish")'`, `perf stat npm publish`).
 */
function mentions(use: string, command: ShellCommand): boolean {
  const pattern = patternText(use)
  const has = mentionTest(pattern)
  if (command.assigned.some(({ value }) => has(value))) return true
  if (quiet.test(programOf(command)) || lookedAt(command) !== undefined) return false
  const here = command.redirects.filter(({ operator }) => operator.startsWith('<<'))
  const isMessage = (at: number) => /^-\w*m$|^--message$/.test(command.words[at] ?? '')
  return (
    here.some(({ target }) => has(target)) ||
    command.words.some((word, at) => at > 0 && /\W/.test(word) && has(word) && !isMessage(at - 1)) ||
    startsAmong(pattern.toLowerCase(), command)
  )
}

/** Whether a text has the words of a pattern in it. A single one must stand alone: `format.js` does not mention `rm`. */
function mentionTest(pattern: string): (text: string) => boolean {
  const anywhere = `*${pattern.replaceAll(gap, '*')}*`
  const single = /^([\w-]+)(\*?)(?:\uFDD3?\**)$/.exec(pattern)
  if (!single) return (text) => matchesAnyCase(anywhere, text)
  const alone = new RegExp(`(?<![\\w.-])${single[1]}${single[2] ? '' : '(?![\\w.-])'}`, 'i')
  return (text) => alone.test(text)
}

/** Whether the denied command begins at one of its words; one without a second word only where a command is to be expected. */
function startsAmong(pattern: string, command: ShellCommand): boolean {
  const [first = '', second = '*'] = pattern.split(gap)
  const words = command.words.map((word) => word.toLowerCase())
  const isOne = second.startsWith('*')
  if (first.startsWith('*') || (isOne && withVerbs.test(programOf(command)))) return false
  const expected = isOne
    ? new Set([...startsAt(words.slice(1)).map((at) => at + 1), words.indexOf('--') + 1])
    : undefined
  const places = words.flatMap((word, at) =>
    at > 0 && (expected?.has(at) ?? true) && matchesStars(first, path.posix.basename(word)) ? [at] : [],
  )
  if (places.length > mostPlaces) return true
  return places.some((at) =>
    formsOf({ ...command, words: words.slice(at) }).some((form) => matchesCommand(pattern, form)),
  )
}

const mostPlaces = 20

/** `npm test *` with a gap for each space; `Bash(npm:*)` is another way to write `npm *`. Quotes hold a word together. */
function patternText(use: string): string {
  const words = use.replace(/:\*$/, ' *').match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? []
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2')).join(gap)
}

/** `npm test *` also matches `npm test` alone. */
const matchesCommand = (pattern: string, text: string) =>
  matchesStars(pattern, text) || matchesStars(pattern, text + gap)

const matchesAnyCase = (pattern: string, text: string) =>
  matchesStars(pattern.toLowerCase(), text.toLowerCase())

/** Whether a text with unknown parts can be one that the pattern matches. */
function meets(pattern: string, text: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), text.toLowerCase()]
  if (given.length > longestUnknown) return true
  // How much of the pattern the text so far may have used up.
  let used = withStars(wanted, [0])
  for (const char of given) {
    used = withStars(wanted, usedAfter(wanted, [...used], char))
    if (used.size === 0) return false
  }
  return used.has(wanted.length)
}

const longestUnknown = 10_000

function usedAfter(wanted: string, used: readonly number[], char: string): number[] {
  if (isKnown(char))
    return used.flatMap((at) => (wanted[at] === '*' ? at : wanted[at] === char ? at + 1 : []))
  const least = Math.min(...used)
  return Array.from({ length: wanted.length - least + 1 }, (_, n) => least + n)
}

/** A star may also match nothing. */
function withStars(wanted: string, used: readonly number[]): Set<number> {
  const all = new Set(used)
  for (let at of used) while (wanted[at] === '*') all.add(++at)
  return all
}

function pathTest(
  given: string,
  { home }: PolicyPlace,
  matcher: PathMatcher,
): (...names: string[]) => boolean {
  const use = given.replace(/^~(?=\/|$)/, home)
  const matches = matcher(use.includes('/') ? [use] : [use, `**/${use}`])
  return (...names) => names.some(matches)
}

/** The path relative to the workspace, and absolute; both without `..`, so that `src/../../x` is not below `src`. */
const namesOf = (full: string, { workspace }: PolicyPlace): [string, string] => [
  path.relative(workspace, full),
  full,
]

/** The address that it names, and every other one in its input: some tools take them from a text. */
function addressesOf({ input }: KnownCall): readonly string[] {
  const { url } = (input ?? {}) as { url?: unknown }
  const found = JSON.stringify(input ?? '').match(/https?:\/\/[^\s"'<>\\]+/gi) ?? []
  return typeof url === 'string' ? [url, ...found] : found
}

/** `https://docs.example/*`, or `domain:example.com` for that host and those below it. */
function fitsAddress(use: string, address: string): boolean {
  const domain = /^domain:(.+)$/i.exec(use.trim())?.[1]?.toLowerCase()
  if (domain === undefined) return matchesAnyCase(use.trim(), address)
  const host = URL.parse(address)?.hostname ?? ''
  return host === domain || host.endsWith(`.${domain}`)
}
