/** The status line at the bottom of a terminal: it is written over, and erased before anything else is printed. */

export interface StatusLine {
  /** Of a text that is too long the beginning is shown, and `end` in any case. */
  show(text: string, end?: string): void
  clear(): void
}

/** Where stderr is no terminal, nothing is shown. */
export function statusLine(isQuiet: boolean): StatusLine {
  let isShown = false
  return {
    show(text, end = '') {
      // Asked only here: loading the streams of Node takes a tenth of the time of a short command.
      if (isQuiet || !process.stderr.isTTY) return
      process.stderr.write(`\r\u001B[K${cutLine(text, end, (process.stderr.columns || 80) - 1)}`)
      isShown = true
    },
    clear() {
      if (isShown) process.stderr.write('\r\u001B[K')
      isShown = false
    },
  }
}

/** Both in that many columns, if the end fits at all. */
export function cutLine(text: string, end: string, width: number): string {
  const room = Math.max(0, width - end.length)
  const kept = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text
  return `${kept}${end}`.slice(0, width)
}
