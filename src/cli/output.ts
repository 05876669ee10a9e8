import { styleText } from 'node:util'

/** Makes text safe for a terminal: what agents and file names hold must not be able to move the cursor or hide. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    if (char === '\n' || char === '\t') return char
    return `\\u{${char.codePointAt(0)?.toString(16)}}`
  })
}

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** Colours only for a terminal whose user has not asked for none. */
export function painter(wanted: boolean): Paint {
  return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text
}

/** The first few, and how many more there are. */
export function shortList(items: readonly string[]): string {
  const more = items.length > 10 ? ` and ${items.length - 10} more` : ''
  return `${items.slice(0, 10).join(', ')}${more}`
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
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

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)))
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))),
    )
    .map((row) => row.join('  ').trimEnd())
    .join('\n')
}

/** What became of a file. */
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

/** `completed`, `running`, `failed: why`; the reason on one line, and no longer than that. */
export function stateWords({ state, running, reason }: Stateful, most = Number.POSITIVE_INFINITY): string {
  if (running) return 'running'
  if (reason === undefined) return state
  const [line = ''] = reason.split('\n')
  return `${state}: ${line.length > most ? `${line.slice(0, most - 1)}…` : line}`
}
