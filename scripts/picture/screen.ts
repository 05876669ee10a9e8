/** Turns what a terminal receives into the lines it shows: carriage returns, erased lines and colours. */

interface Style {
  readonly color?: 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | undefined
  readonly bold?: boolean
  readonly dim?: boolean
}

/** Characters side by side that look the same. */
export interface Span extends Style {
  readonly column: number
  readonly text: string
}

interface Char {
  readonly char: string
  readonly style: Style
}

const colors = { 31: 'red', 32: 'green', 33: 'yellow', 34: 'blue', 35: 'magenta', 36: 'cyan' } as const

// oxlint-disable-next-line no-control-regex -- escape sequences are what is read here
const token = /\u001B\[([\d;]*)([A-Za-z])|\r|\n|[^\u001B\r\n]/gu

export function screenLines(received: string, columns: number): Span[][] {
  const lines: Char[][] = [[]]
  let column = 0
  let style: Style = {}
  for (const [text, numbers = '', letter] of received.matchAll(token)) {
    const line = lines.at(-1)!
    if (letter === 'm') style = styled(style, numbers)
    // The cursor is always on the last line, so nothing is below it.
    else if (letter === 'K' || letter === 'J') line.length = Math.min(line.length, column)
    else if (letter !== undefined) throw new Error(`The picture cannot show ESC[${numbers}${letter}.`)
    else if (text === '\r') column = 0
    else if (text === '\n') {
      lines.push([])
      column = 0
    } else {
      if (column === columns) {
        lines.push([])
        column = 0
      }
      lines.at(-1)![column++] = { char: text, style }
    }
  }
  if (lines.at(-1)!.length === 0) lines.pop()
  return lines.map(spans)
}

function styled(style: Style, numbers: string): Style {
  let now = style
  for (const number of numbers.split(';').map(Number)) {
    if (number === 0) now = {}
    else if (number === 1) now = { ...now, bold: true }
    else if (number === 2) now = { ...now, dim: true }
    else if (number === 22) now = { ...now, bold: false, dim: false }
    else if (number === 39) now = { ...now, color: undefined }
    else if (number in colors) now = { ...now, color: colors[number as keyof typeof colors] }
    else throw new Error(`The picture cannot show the style ${number}.`)
  }
  return now
}

function spans(line: readonly Char[]): Span[] {
  const found: Span[] = []
  for (const [column, { char, style }] of line.entries()) {
    const last = found.at(-1)
    if (last && looks(last) === looks(style)) found[found.length - 1] = { ...last, text: last.text + char }
    else found.push({ column, text: char, ...style })
  }
  return found
}

const looks = ({ color, bold, dim }: Style) => `${color} ${bold === true} ${dim === true}`
