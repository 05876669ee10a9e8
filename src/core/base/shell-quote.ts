/** Quotes a word for a shell command line that a user can copy. */

/** `my file` becomes `'my file'`; a word of plain characters stays as it is. */
export function quoted(file: string): string {
  return /^[\w./@:+=-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
