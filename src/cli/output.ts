/** Formats text for a terminal: printable characters, colours, tables, counts and ages. */
import { styleText } from 'node:util'
import { counted } from '../core/base/counted.ts'

/** Control and invisible characters, and those that turn the direction of text around. */
const hiddenClass = '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]'
const hidden = () => new RegExp(hiddenClass, 'gu')

/**
 * Escapes what could move the cursor, hide or turn text around, and keeps it on one line: every name, and every other text
 * of an agent's, a file's or a repository's that stands in a line of ours, is printed through this.
 */
export function printable(text: string): string {
  // Most texts are plain. The classes of Unicode take a millisecond to compile, which `list` would wait for.
  return isPlain(text) ? text : text.replace(hidden(), escaped)
}

/** Lines of ours, each of which stays one line. */
export function printableLines(lines: readonly string[]): string {
  return lines.map(printable).join('\n')
}

/** The same for text of several lines, such as the output of a program. */
export function printableText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden(), (char) => (char === '\n' || char === '\t' ? char : escaped(char)))
}

/** The same for the output of git, which has quoted every escape character of a name: only colours pass. */
export function printableDiff(text: string): string {
  return text.replace(new RegExp(`\\u{1b}\\[[\\d;]*m|${hiddenClass}`, 'gu'), (found) =>
    found.length > 1 || found === '\n' || found === '\t' ? found : escaped(found),
  )
}

/** Printable ASCII alone. */
const isPlain = (text: string) => /^[ -~]*$/.test(text)

/**
 * One line of text with everything in it to be seen: besides what `printable` escapes also new lines, tabs, spaces other
 * than the usual one, letters that are drawn as nothing, and how many spaces there are where there are several.
 */
export function visible(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu, escaped)
    .replace(/(?<=\S) {3,}|^ {61,}| +$/g, (spaces) => `⟨${counted(spaces.length, 'space')}⟩`)
}

const escaped = (char: string) => `\\u{${char.codePointAt(0)?.toString(16)}}`

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** Paints only if `wanted`, which is false without a terminal, with NO_COLOR and with --no-color. */
export function painter(wanted: boolean): Paint {
  return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text
}

/** The first few, and how many more there are. */
export function shortList(items: readonly string[]): string {
  const more = items.length > 10 ? ` and ${items.length - 10} more` : ''
  return `${items.slice(0, 10).join(', ')}${more}`
}

interface Progress {
  readonly percent: number
  readonly files: number
  readonly total: number
}

/** How far a checkout has come. */
export function progressText({ percent, files, total }: Progress): string {
  return `Making the workspace: ${percent} % (${files} of ${counted(total, 'file')})`
}

type Rows = readonly (readonly string[])[]

/** Columns as wide as their widest cell, of printable text; the last one is not padded. */
export async function table(rows: Rows): Promise<string> {
  const cells = rows.map((row) => row.map(printable))
  if (cells.flat().every(isPlain)) return plainTable(cells)
  const { displayWidth } = await import('./display-width.ts')
  return aligned(cells, displayWidth)
}

/** A table of ASCII alone, in which a character is a column. */
export function plainTable(rows: Rows): string {
  return aligned(rows, ({ length }) => length)
}

function aligned(rows: Rows, widthOf: (cell: string) => number): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))))
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)))
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

/** The sign before a file that was added, modified or deleted. */
export const marks = { added: '+', modified: '~', deleted: '-' }

/** `3 minutes ago`, `just now`. */
export function ago(at: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 1000))
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    const count = Math.floor(seconds / length)
    if (count > 0) return `${counted(count, unit)} ago`
  }
  return 'just now'
}

interface Stateful {
  readonly state: string
  readonly running?: true | undefined
  readonly reason?: string | undefined
}

/** `completed`, `running`, `failed: why`; the first line of the reason, at most `most` characters of it. */
export function stateWords({ state, running, reason }: Stateful, most = Number.POSITIVE_INFINITY): string {
  if (running) return 'running'
  if (reason === undefined) return state
  const [line = ''] = reason.split('\n')
  return `${state}: ${line.length > most ? `${line.slice(0, most - 1)}…` : line}`
}
