/** As a shell takes it for one word. */
export function quoted(file: string): string {
  return /^[\w./@:+=-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
