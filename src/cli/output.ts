/** Formats text for a terminal: colours, tables, counts and ages. */
import { styleText } from 'node:util'
import { counted } from '../core/base/counted.ts'
import { isPlain, printable } from '../core/base/printable.ts'
import type { Progress } from '../core/model/progress.ts'

export { isPlain, printable, printableDiff, printableText, visible } from '../core/base/printable.ts'

/** Lines of ours, each of which stays one line. */
export function printableLines(lines: readonly string[]): string {
  return lines.map(printable).join('\n')
}

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

const phaseWords: Record<Progress['phase'], string> = {
  making: 'Making the workspace',
  reading: 'Reading files',
  checking: 'Checking files',
  staging: 'Staging files',
  writing: 'Writing files',
  copying: 'Copying files',
  pruning: 'Pruning',
}

/** How far a verb has come. */
export function progressText({ phase, percent, files, total }: Progress): string {
  return `${phaseWords[phase]}: ${percent} % (${files} of ${counted(total, phase === 'pruning' ? 'task' : 'file')})`
}

type Rows = readonly (readonly string[])[]

/** How a table gets into a terminal that is too narrow for it. */
export interface Fit {
  /** The columns of the terminal; undefined elsewhere, where nothing is cut. */
  readonly width: number | undefined
  /** The columns of the table that are cut, in that order, each to no less than `least`; one of 0 may go altogether. A column may come twice. */
  readonly cut: readonly { readonly column: number; readonly least: number }[]
}

/** Columns as wide as their widest cell, of printable text; the last one is not padded. */
export async function table(rows: Rows, fit?: Fit): Promise<string> {
  const cells = rows.map((row) => row.map(printable))
  return aligned(cells, await measureOf(cells.flat()), fit).join('\n')
}

/** A table of ASCII alone, in which a character is a column. */
export function plainTable(rows: Rows): string {
  return aligned(rows, plainMeasure).join('\n')
}

/** How wide a text is, and as much of it as fits, with `…` where more was. */
export interface Measure {
  widthOf(text: string): number
  cutTo(text: string, width: number): string
}

const plainMeasure: Measure = {
  widthOf: ({ length }) => length,
  cutTo: (text, width) => (text.length <= width ? text : width < 1 ? '' : `${text.slice(0, width - 1)}…`),
}

async function measureOf(texts: readonly string[]): Promise<Measure> {
  if (texts.every(isPlain)) return plainMeasure
  const { cutText, displayWidth } = await import('./display-width.ts')
  return { widthOf: displayWidth, cutTo: cutText }
}

/** Lines of printable text, each cut to the width of the terminal; elsewhere as they are. */
export async function fittedLines(lines: readonly string[], width: number | undefined): Promise<string[]> {
  if (width === undefined) return [...lines]
  const { cutTo } = await measureOf(lines)
  return lines.map((line) => cutTo(line, width))
}

/** Text of several lines as lines of at most that width, broken between words where it can be. */
export async function foldedLines(text: string, width: number | undefined): Promise<string[]> {
  const lines = text.split('\n')
  if (width === undefined) return lines
  const { foldLine } = await import('./display-width.ts')
  return lines.flatMap((line) => (isPlain(line) && line.length <= width ? [line] : foldLine(line, width)))
}

/** The lines of a table of printable text, one for each row. */
export function aligned(rows: Rows, { widthOf, cutTo }: Measure, fit?: Fit): string[] {
  const natural: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => (natural[column] = Math.max(natural[column] ?? 0, widthOf(cell))))
  const widths = fittedWidths(natural, fit)
  const fitted = (cell: string, column: number) => {
    const width = widths[column] ?? 0
    const shown = width < (natural[column] ?? 0) ? cutTo(cell, width) : cell
    return shown + ' '.repeat(Math.max(0, width - widthOf(shown)))
  }
  const isShown = (_: string, column: number) => widths[column] !== undefined
  const lines = rows.map((row) => row.map(fitted).filter(isShown).join(gap).trimEnd())
  return lines.map((line) => (fit?.width === undefined ? line : cutTo(line, fit.width)))
}

const gap = '  '

/** A column that is narrower than this tells nothing. */
const narrowest = 4

/** The width of each column; undefined of one that is left out. Pure. */
function fittedWidths(natural: readonly number[], fit: Fit | undefined): (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural]
  const total = () => {
    const shown = widths.filter((width) => width !== undefined)
    return shown.reduce((all, width) => all + width, 0) + gap.length * (shown.length - 1)
  }
  for (const { column, least } of fit?.width === undefined ? [] : fit.cut) {
    const [width, over] = [widths[column] ?? 0, total() - fit!.width!]
    if (over <= 0) break
    const left = Math.max(Math.min(least, width), width - over)
    widths[column] = least === 0 && left < narrowest ? undefined : left
  }
  return widths
}

/** A file that somebody changed since the run that is undone, or in the middle of a verb. */
export function leftLine(path: string): string {
  return `  left as it is, since it was changed meanwhile: ${path}`
}

/** The sign before a file that was added, modified or deleted. */
export const marks = { added: '+', modified: '~', deleted: '-' }

/** `3 minutes ago`, `just now`. */
export function ago(at: string, now: Date): string {
  const { count, unit } = ageOf(at, now)
  return count === 0 ? 'just now' : `${counted(count, unit)} ago`
}

/** `3m`, `2h`, `5d`, `now`: for a table with many columns. */
export function age(at: string, now: Date): string {
  const { count, unit } = ageOf(at, now)
  return count === 0 ? 'now' : `${count}${unit.slice(0, 1)}`
}

/** The same to the second: `12s`, `3m`. */
export function elapsed(at: string, now: Date): string {
  const { count, unit, seconds } = ageOf(at, now)
  return count === 0 ? `${seconds}s` : `${count}${unit.slice(0, 1)}`
}

interface Age {
  readonly count: number
  readonly unit: string
  readonly seconds: number
}

function ageOf(at: string, now: Date): Age {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 1000))
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    const count = Math.floor(seconds / length)
    if (count > 0) return { count, unit, seconds }
  }
  return { count: 0, unit: 'minute', seconds }
}

export const deniedText = (count: number) => `${counted(count, 'tool call was', 'tool calls were')} denied`

export const unheardText = (count: number) =>
  `${counted(count, 'message of yours has', 'messages of yours have')} not been heard`

/** The title on one line: a prompt may have several. */
export function titleLine({ title }: { readonly title: string }): string {
  return title.replace(/\s+/g, ' ').trim()
}

/** `+12 -3` */
export function linesText(task: { readonly insertions: number; readonly deletions: number }): string {
  return `+${task.insertions} -${task.deletions}`
}

interface Stateful {
  readonly state: string
  readonly running?: true | undefined
  readonly queued?: readonly object[] | undefined
  readonly asks?: object | undefined
  readonly reason?: string | undefined
}

export function isClosed({ state }: Stateful): boolean {
  return state === 'accepted' || state === 'rejected' || state === 'kept'
}

/** `completed`, `running`, `queued`, `failed: why`; the first line of the reason, at most `most` characters of it. */
export function stateWords(
  { state, running, queued, asks, reason }: Stateful,
  most = Number.POSITIVE_INFINITY,
): string {
  if (running) return asks ? 'running, asks you' : 'running'
  if (queued) return 'queued'
  if (reason === undefined) return state
  const [line = ''] = reason.split('\n')
  return `${state}: ${line.length > most ? `${line.slice(0, most - 1)}…` : line}`
}
