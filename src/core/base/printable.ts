/** Text of others, made fit to be shown: nothing in it can move a cursor, hide or turn text around. */
import { counted } from './counted.ts'

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
export const isPlain = (text: string) => /^[ -~]*$/.test(text)

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
