/** `src`, `src/a.ts`, `*.md`, `docs/**`: which paths are meant. */
export function pathMatcher(specs: readonly string[]): (path: string) => boolean {
  const patterns = specs.map((spec) => {
    const clean = spec.replace(/^\.\//, '').replace(/\/+$/, '')
    return new RegExp(
      `^${clean
        .split(/(\*\*\/?|\*|\?)/)
        .map(piece)
        .join('')}(/.*)?$`,
      's',
    )
  })
  return (path) => patterns.some((pattern) => pattern.test(path))
}

function piece(text: string): string {
  if (text === '**/') return '(.*/)?'
  if (text === '**') return '.*'
  if (text === '*') return '[^/]*'
  if (text === '?') return '[^/]'
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
