/** The table of the hints: what each file of `test/hints` names, read without running it. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { collectHints, type Hint, textsOf } from './collect.ts'

const root = path.resolve(import.meta.dirname, '../../..')

/** The hints of our sources. */
export const ourHints = (): Hint[] => collectHints(path.join(root, 'src'))

export const rowFiles = (): string[] =>
  globSync('test/hints/*.ts', { cwd: root }).map((file) => path.join(root, file))

/** The names in a file, each once: `core/verbs/undo.ts: offshoot ops lists`. */
export function namesIn(file: string): string[] {
  const texts = textsOf(file, readFileSync(file, 'utf8'))
  return [...new Set(texts.filter((text) => /^[\w/-]+\.ts: /.test(text)))]
}

/** The hints of that file whose text begins so, but for white space; one that is the name exactly comes before all others. */
export function hintsNamed(hints: readonly Hint[], name: string): Hint[] {
  const found = (fits: (whole: string) => boolean) =>
    hints.filter(({ file, text }) => fits(`${file}: ${text.trim()}`))
  const exact = found((whole) => whole === name)
  return exact.length > 0 ? exact : found((whole) => whole.startsWith(name))
}

/** The only one of them. */
export function hintNamed(hints: readonly Hint[], name: string): Hint {
  const [only, ...others] = hintsNamed(hints, name)
  if (only && others.length === 0) return only
  throw new Error(`${only ? 'More than one hint' : 'No hint'} of the sources is ${name}`)
}
