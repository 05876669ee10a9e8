/** The status line at the bottom of a terminal: it is written over, and erased before anything else is printed. */

export interface StatusLine {
  show(text: string): void
  clear(): void
}

/** Where stderr is no terminal, nothing is shown. */
export function statusLine(isQuiet: boolean): StatusLine {
  let isShown = false
  return {
    show(text) {
      // Asked only here: loading the streams of Node takes a tenth of the time of a short command.
      if (isQuiet || !process.stderr.isTTY) return
      const width = (process.stderr.columns || 80) - 1
      process.stderr.write(`\r\u001B[K${text.slice(0, width)}`)
      isShown = true
    },
    clear() {
      if (isShown) process.stderr.write('\r\u001B[K')
      isShown = false
    },
  }
}
