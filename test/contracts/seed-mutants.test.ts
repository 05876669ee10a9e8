/** Every scenario of test/seeds has a planted bug that breaks it; `npm run test:mutants` shows that it does. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { readMutants } from '../mutants/all.ts'

const root = path.resolve(import.meta.dirname, '../..')
const files = globSync('test/seeds/**/*.test.ts', { cwd: root }).toSorted()

/** The names as they are written: those of `test.each` with their `%s`. */
function namesIn(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  const names = text.matchAll(/(?:\btest\(|\)\()\s*(['`])((?:(?!\1)[^\\\n]|\\.)+)\1,\s*(?:\{|async|\(|$)/gm)
  return Array.from(names, ([, , name = '']) => name)
}

/** Where a scenario is known by ids, each of them counts. */
const idsIn = (name: string) => name.match(/\b(?:FR|NFR|AC|UT|IT|E2E)-\d{3}\b/g) ?? []

/** Whether the word is in the name, whatever `%s` stands for. */
function names(word: string, name: string): boolean {
  const [before = name] = name.split(/%[sj]|\$[a-z]/)
  return name.includes(word) || (before.length > 8 && word.startsWith(before))
}

describe('every scenario has a bug that breaks it', () => {
  test.each(files)('%s', async (file) => {
    const words = (await readMutants())
      .filter(({ suites }) => suites.includes(file))
      .flatMap(({ breaks = [] }) => breaks)
    const found = namesIn(file)
    const tests = readFileSync(path.join(root, file), 'utf8').match(/^ *test[.(]/gm)
    expect(found).toHaveLength(tests?.length ?? 0)
    expect(found.filter((name) => !words.some((word) => names(word, name)))).toEqual([])
    const ids = new Set(found.flatMap(idsIn))
    expect([...ids].filter((id) => !words.some((word) => word.includes(id)))).toEqual([])
  })

  test('every word of a bug is in the name of a test of its files', async () => {
    const lost = (await readMutants()).flatMap(({ name, suites, breaks = [] }) =>
      breaks
        .filter((word) => !suites.flatMap(namesIn).some((one) => names(word, one)))
        .map((word) => `${name}: ${word}`),
    )
    expect(lost).toEqual([])
  })
})
