/** Tests that documents name are there: files, and in docs/proofs/findings.md the names of the tests, too. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { read, root } from './documents.ts'

/** A path below `test/`, or one that begins with `src/`. */
const fileOf = (named: string) => (named.startsWith('src/') ? named : `test/${named}`)

/** `journeys/x.test.ts` “words”, “words”: a file, and words of names of its tests. */
function namedIn(text: string): { file: string; words: string[] }[] {
  const found = text.matchAll(/`([\w./-]+\.test\.ts)`((?:,? “[^”]+”)*)/g)
  return Array.from(found, ([, named = '', after = '']) => ({
    file: fileOf(named.replace(/^test\//, '')),
    words: Array.from(after.matchAll(/“([^”]+)”/g), ([, words = '']) => words),
  }))
}

describe('every test file that a document names is there', () => {
  test.each(['SPEC.md', 'docs/reliability.md', 'docs/proofs/findings.md'])('%s', (document) => {
    const files = namedIn(read(document)).map(({ file }) => file)
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
  })
})

test('every test that docs/proofs/findings.md names is in its file', () => {
  const named = namedIn(read('docs/proofs/findings.md'))
  const lost = named.flatMap(({ file, words }) => {
    const text = read(file)
    return words.filter((one) => !text.includes(one)).map((one) => `${file}: ${one}`)
  })
  expect(lost).toEqual([])
})

test('every finding has a test', () => {
  const rows = read('docs/proofs/findings.md').match(/^\| [A-Z]\d+ \|.*$/gm) ?? []
  expect(rows.length).toBeGreaterThan(50)
  const without = rows.filter((row) => !namedIn(row).some(({ words }) => words.length > 0))
  expect(without).toEqual([])
  const ids = rows.map((row) => /\w+/.exec(row)?.[0])
  expect(new Set(ids).size).toBe(ids.length)
})
