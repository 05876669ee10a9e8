/** Pathspecs: the paths that a user means with `--only src --only '*.md'`, or a policy with `Edit(src/*)`. */
import path from 'node:path'
import { AppError } from '../model/errors.ts'
import { loadGlob } from './glob.ts'

export type PathMatcher = (specs: readonly string[]) => (path: string) => boolean

/**
 * A pathspec is `src`, `src/a.ts`, `*.md` or `docs/**`. It matches the path that is spelled like it, the paths of its
 * glob, and all paths below those: `src` matches `src/a.ts`, and `(app)` the folder of that very name.
 */
export async function loadPathMatcher(): Promise<PathMatcher> {
  const glob = await loadGlob()
  return (specs) => {
    const tests = specs.map((spec) => {
      const clean = spec.replace(/^\.\//, '').replace(/\/+$/, '')
      if (clean === '') return () => false
      const [self, below] = [glob(clean), glob(`${clean}/**`)]
      return (path: string) => path === clean || path.startsWith(`${clean}/`) || self(path) || below(path)
    })
    return (path) => tests.some((test) => test(path))
  }
}

/** Makes a pathspec that was typed in `folder` relative to the root of the checkout; as in git, `:/` begins at the root. */
export function rootedSpec(spec: string, folder: string): string {
  const rooted = spec.startsWith(':/') ? path.posix.normalize(spec.slice(2)) : path.posix.join(folder, spec)
  if (rooted === '..' || rooted.startsWith('../') || path.posix.isAbsolute(rooted))
    throw new AppError('outsideBase', `${spec} leads out of the repository.`, {
      hint: 'Name paths as seen from this folder, or with :/ from the root of the checkout.',
    })
  return rooted === '.' || rooted === './' ? '**' : rooted
}
