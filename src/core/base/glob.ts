/** Glob patterns, compiled by the package `picomatch`, which is loaded with the first pattern: most commands have none. */

/**
 * The syntax of git's `:(glob)`: `*` and `?` stay within a folder, `**` crosses folders, `[a-z]` is one of these characters,
 * a backslash makes the next character plain. All other characters stand for themselves, also `(app)`, `{a,b}` and `!x`.
 */
export type Glob = (pattern: string) => (path: string) => boolean

export async function loadGlob(): Promise<Glob> {
  const { default: picomatch } = await import('picomatch')
  return (pattern) =>
    picomatch(pattern.replace(/(?<!\\)[()|]/g, '\\$&'), {
      dot: true,
      flags: 's',
      keepQuotes: true,
      nobrace: true,
      noext: true,
      nonegate: true,
      posix: true,
      windows: false,
    })
}
