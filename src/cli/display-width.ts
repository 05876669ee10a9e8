/** How many columns of a terminal a text takes, and how it is made to take fewer. Is loaded only for texts that are not ASCII, or too long. */
import { eastAsianWidth } from 'get-east-asian-width'

const graphemes = new Intl.Segmenter()
const emoji = /^\p{RGI_Emoji}$/v
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u

/** `日本` takes four columns, and `e` with a combining accent one. */
export function displayWidth(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOf(segment)
  return width
}

/** As much of a text as fits into that many columns, with `…` where more was. */
export function cutText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  return width < 1 ? '' : `${beginningOf(text, width - 1)}…`
}

/** A line as several of at most that width, broken between words where it can be. */
export function foldLine(line: string, width: number): string[] {
  const lines: string[] = []
  let rest = line
  while (displayWidth(rest) > width) {
    // A character may be wider than the terminal.
    const begun = beginningOf(rest, width) || rest.slice(0, 2)
    const space = rest[begun.length] === ' ' ? begun.length : begun.lastIndexOf(' ')
    const end = space > 0 ? space : begun.length
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return [...lines, rest]
}

function beginningOf(text: string, width: number): string {
  let [at, used] = [0, 0]
  for (const { segment } of graphemes.segment(text)) {
    used += widthOf(segment)
    if (used > width) break
    at += segment.length
  }
  return text.slice(0, at)
}

function widthOf(grapheme: string): number {
  if (invisible.test(grapheme)) return 0
  return emoji.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0)
}
