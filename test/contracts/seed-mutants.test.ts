/** The faults that test/seeds must find can still be put into the sources. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { mutants } from '../mutants/seed-mutants.ts'

const root = path.resolve(import.meta.dirname, '../..')

test.each(mutants)('$name: the text is in its file once, and the suites are there', (mutant) => {
  const { file, find, replace, suites } = mutant
  expect(readFileSync(path.join(root, file), 'utf8').split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
  expect(suites.filter((suite) => !existsSync(path.join(root, suite)))).toEqual([])
})
