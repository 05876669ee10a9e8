/** How many columns of a terminal a text takes. Is loaded only for texts that are not ASCII. */
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

function widthOf(grapheme: string): number {
  if (invisible.test(grapheme)) return 0
  return emoji.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0)
}
