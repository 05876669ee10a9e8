/** Quotes words for shells. */

/** One word for `/bin/sh`, whatever is in it. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/**
 * A word for a command line that a user can copy. `my file` becomes `'my file'`; a word of plain characters stays as it is. Characters that a terminal would obey or hide
 * are written as their bytes, in the form that bash, zsh and ksh read: `$'a\012b'`.
 */
export function quoted(word: string): string {
  if (/^[\w./@:+-][\w./@:+=-]*$/.test(word)) return word
  if (!hidden.test(word)) return shellWord(word)
  const escaped = word.replace(/[\\']/g, '\\$&').replace(new RegExp(hidden, 'gu'), bytesOf)
  return `$'${escaped}'`
}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** In octal, since a hexadecimal number could go on with the next character. */
function bytesOf(char: string): string {
  return Array.from(Buffer.from(char), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}

/** `--allow a.txt`. A path that begins with `-` would be taken for an option. */
export function allowing(file: string): string {
  return file.startsWith('-') ? `--allow=${quoted(file)}` : `--allow ${quoted(file)}`
}
