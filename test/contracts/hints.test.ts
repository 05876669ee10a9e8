/** I5: every hint of the sources has its row in `test/hints`, where it is provoked and typed; here nothing runs. */
import { expect, test } from 'vitest'
import { hintsNamed, namesIn, ourHints, rowFiles } from '../support/hints/rows.ts'

const hints = ourHints()
const names = rowFiles().flatMap(namesIn)

test('I5: every row of test/hints names one hint of the sources', () => {
  expect(names.filter((name) => hintsNamed(hints, name).length !== 1)).toEqual([])
})

test('I5: every hint of the sources has a row in test/hints, which provokes and types it', () => {
  const rows = new Set(names.flatMap((name) => hintsNamed(hints, name)))
  const left = hints.filter((hint) => !rows.has(hint))
  expect(left.map(({ file, text }) => `${file}: ${text}`)).toEqual([])
})
