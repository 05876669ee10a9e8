/** Status lines at the bottom of a terminal: they are written over, and erased before anything else is printed. */
import type { Outlet } from './shell.ts'

interface Status {
  readonly text: string
  /** Of a text that is too long the beginning is shown, and this in any case. */
  readonly end?: string | undefined
}

export interface StatusLines {
  show(lines: readonly Status[]): void
  clear(): void
}

export interface StatusLine {
  show(text: string, end?: string): void
  clear(): void
}

export function statusLine(stderr: Outlet, isQuiet: boolean): StatusLine {
  const { show, clear } = statusLines(stderr, isQuiet)
  return { show: (text, end) => show([{ text, end }]), clear }
}

/** Where stderr is no terminal, nothing is shown. */
export function statusLines(stderr: Outlet, isQuiet: boolean): StatusLines {
  let shown = 0
  const erased = () => `\r${shown > 1 ? `\u001B[${shown - 1}A` : ''}\u001B[J`
  return {
    show(lines) {
      if (isQuiet || !stderr.isTerminal) return
      const { columns, rows } = stderr
      const fitting = lines.slice(0, Math.max(1, (rows || 24) - 1))
      const words = fitting.map(({ text, end = '' }) => cutLine(text, end, (columns || 80) - 1))
      stderr.write(`${erased()}${words.join('\n')}`)
      shown = words.length
    },
    clear() {
      if (shown > 0) stderr.write(erased())
      shown = 0
    },
  }
}

/** Both in that many columns, if the end fits at all. */
export function cutLine(text: string, end: string, width: number): string {
  const room = Math.max(0, width - end.length)
  const kept = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text
  return `${kept}${end}`.slice(0, width)
}
