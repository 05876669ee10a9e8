import { expect, test } from 'vitest'
import { firstNew, markerHint, markerSearch } from './markers.ts'

const set = (one = ' a', other = ' b', end = '\n') =>
  [`<<<<<<<${one}`, 'x', '=======', 'y', `>>>>>>>${other}`, ''].join(end)

/** The search, with the content cut into pieces of that size. */
function search(content: string, size = content.length) {
  const [sets, hint] = [markerSearch(), markerHint()]
  for (let at = 0; at < content.length; at += size) {
    sets.take(Buffer.from(content.slice(at, at + size)))
    hint.take(Buffer.from(content.slice(at, at + size)))
  }
  return { sets: sets.end(), hint: hint.end() }
}

test.each([1, 2, 3, 7, 10, 100])('A13: a set is found wherever the pieces of %i bytes are cut', (size) => {
  const content = `1\n2\n${set()}3\n${set(' c', ' d', '\r\n')}`
  expect(search(content, size)).toEqual({
    sets: [
      { line: 3, labels: ' a\n b' },
      { line: 9, labels: ' c\n d' },
    ],
    hint: true,
  })
})

test.each([
  ['no beginning', '=======\n>>>>>>> b\n'],
  ['no middle', '<<<<<<< a\n>>>>>>> b\n'],
  ['no end', '<<<<<<< a\n=======\n'],
  ['not at the beginning of a line', set().replaceAll(/^/gm, ' ')],
  ['eight characters', set().replaceAll(/^([<=>])/gm, '$1$1')],
])('A13: %s is no set of markers', (_, content) => {
  expect(search(content).sets).toEqual([])
})

test('A13: only a set that the file did not have counts, whatever is between its markers', () => {
  const [one, two] = [search(set()).sets, search(`${set().replace('x', 'z')}${set(' c')}`).sets]
  expect(firstNew(one, one)).toBeUndefined()
  expect(firstNew(one, two)).toMatchObject({ line: 6 })
  expect(firstNew([], one)).toMatchObject({ line: 1 })
  expect(firstNew(one, search(`${set()}${set()}`).sets)).toMatchObject({ line: 6 })
})
