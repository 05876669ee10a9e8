/** The planted bugs of `npm run test:mutants`: each still has its place, and a name of its own. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { readMutants } from '../mutants/all.ts'
import { misplaced } from '../mutants/place.ts'

const root = path.resolve(import.meta.dirname, '../..')

test('every planted bug has exactly one place in the sources, and tests that are there', async () => {
  const mutants = await readMutants()
  expect(mutants.length).toBeGreaterThanOrEqual(60)
  expect(mutants.flatMap((mutant) => misplaced(root, mutant) ?? [])).toEqual([])
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})
