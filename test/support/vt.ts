/** A terminal as a grid of cells: what a program writes becomes the rows that a person would see. */
import { displayWidth } from '../../src/cli/display-width.ts'

export interface Vt {
  /** Takes what the program has written. */
  feed(text: string): void
  /** The rows, without spaces at their ends. */
  rows(): string[]
  text(): string
  resize(columns: number, rows: number): void
  readonly isAlternate: boolean
  readonly isCursorShown: boolean
  /** How often text on the alternate screen came to the last column and went on. */
  readonly overflows: number
  /** The same since the screen was last erased: what was on its way when the size changed does not count. */
  readonly recentOverflows: number
}

type Grid = string[][]

const token =
  // oxlint-disable-next-line no-control-regex -- escape sequences are what is read here
  /\u001B\[([?>]?)([\d;]*)([ -/]*[@-~])|\u001B\][^\u0007]*\u0007|\u001B[()].|\u001B.|[\r\n\b\u0007]|[^\u001B\r\n\b\u0007]+/gsu
const graphemes = new Intl.Segmenter()

export function terminal(columns: number, rows: number): Vt {
  let [width, height] = [columns, rows]
  const blank = (): Grid => Array.from({ length: height }, () => [])
  const screens = { main: blank(), alternate: blank() }
  let grid = screens.main
  let [row, column] = [0, 0]
  let kept = [0, 0] as [number, number]
  let isCursorShown = true
  let [overflows, recent] = [0, 0]
  let rest = ''

  const down = () => {
    if (row < height - 1) return void row++
    grid.shift()
    grid.push([])
  }

  function put(text: string): void {
    for (const { segment } of graphemes.segment(text)) {
      const size = displayWidth(segment)
      if (size === 0) continue
      if (column + size > width) {
        if (grid === screens.alternate) overflows++
        if (grid === screens.alternate) recent++
        column = 0
        down()
      }
      const line = grid[row]!
      while (line.length < column) line.push(' ')
      line[column] = segment
      // The second half of a wide letter.
      if (size === 2) line[column + 1] = ''
      column += size
    }
  }

  function erase(mode: number): void {
    if (mode === 2) {
      for (let n = 0; n < height; n++) grid[n] = []
      recent = 0
    } else if (mode === 0) {
      grid[row]!.length = Math.min(grid[row]!.length, column)
      for (let n = row + 1; n < height; n++) grid[n] = []
    }
  }

  function eraseLine(mode: number): void {
    const line = grid[row]!
    if (mode === 0) line.length = Math.min(line.length, column)
    else if (mode === 2) line.length = 0
    else line.fill(' ', 0, column + 1)
  }

  function set(mode: string, isOn: boolean): void {
    if (mode === '25') isCursorShown = isOn
    if (mode === '1049') {
      if (isOn) {
        screens.alternate = blank()
        kept = [row, column]
      } else [row, column] = kept
      grid = isOn ? screens.alternate : screens.main
    }
  }

  function control(numbers: string, letter: string): void {
    const [first = 0, second = 0] = numbers.split(';').map(Number)
    const by = Math.max(1, first)
    if (letter === 'H') [row, column] = [Math.min(by, height) - 1, Math.max(1, second) - 1]
    else if (letter === 'J') erase(first)
    else if (letter === 'K') eraseLine(first)
    else if (letter === 'A') row = Math.max(0, row - by)
    else if (letter === 'B') row = Math.min(height - 1, row + by)
    else if (letter === 'C') column += by
    else if (letter === 'D') column = Math.max(0, column - by)
    else if (letter === 'G') column = by - 1
  }

  const shown = (lines: Grid) => Array.from({ length: height }, (_, n) => (lines[n] ?? []).join('').trimEnd())
  return {
    feed(text) {
      const all = rest + text
      // A sequence may come in two parts.
      // oxlint-disable-next-line no-control-regex -- as above
      rest = /\u001B(?:\[[?>]?[\d;]*|\][^\u0007]*)?$/.exec(all)?.[0] ?? ''
      for (const [found, mark, numbers, letter] of all.slice(0, all.length - rest.length).matchAll(token)) {
        if (letter !== undefined && mark === '?')
          numbers!.split(';').forEach((one) => set(one, letter === 'h'))
        else if (letter !== undefined) control(numbers ?? '', letter)
        else if (found === '\r') column = 0
        else if (found === '\n') down()
        else if (found === '\b') column = Math.max(0, column - 1)
        else if (found === '\u001BM') row = Math.max(0, row - 1)
        else if (!found.startsWith('\u001B') && found !== '\u0007') put(found)
      }
    },
    rows: () => shown(grid),
    text: () => shown(grid).join('\n'),
    resize(toColumns, toRows) {
      ;[width, height] = [toColumns, toRows]
      for (const lines of Object.values(screens)) while (lines.length < height) lines.push([])
      row = Math.min(row, height - 1)
    },
    get isAlternate() {
      return grid === screens.alternate
    },
    get isCursorShown() {
      return isCursorShown
    },
    get overflows() {
      return overflows
    },
    get recentOverflows() {
      return recent
    },
  }
}
