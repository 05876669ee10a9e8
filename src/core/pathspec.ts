import path from 'node:path'
import { AppError } from './errors.ts'

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

/** As seen from the root of the checkout, what was said in one of its folders; `:/` begins at the root, as for git. */
export function rootedSpec(spec: string, folder: string): string {
  const rooted = spec.startsWith(':/') ? path.posix.normalize(spec.slice(2)) : path.posix.join(folder, spec)
  if (rooted === '..' || rooted.startsWith('../') || path.posix.isAbsolute(rooted))
    throw new AppError('WT_006', `${spec} leads out of the repository.`, {
      hint: 'Name paths as seen from this folder, or with :/ from the root of the checkout.',
    })
  return rooted === '.' || rooted === './' ? '**' : rooted
}
