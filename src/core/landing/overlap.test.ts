import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import { overlappingPairs, sharedPaths } from './overlap.ts'

describe('F6: sharedPaths', () => {
  test.each<[string, string[], string[], string[]]>([
    ['the same file', ['a', 'b'], ['b', 'c'], ['b']],
    ['a folder of the other in the place of a file', ['d'], ['d/e/f'], ['d']],
    ['a file of the other in the place of a folder', ['d/e/f', 'x'], ['d'], ['d/e/f']],
    ['names that differ in case alone', ['Src/A.ts'], ['src/a.ts'], ['Src/A.ts']],
    ['a name that only begins with the other', ['ab', 'a-b/c'], ['a', 'a/b'], []],
    ['neighbours', ['d/e'], ['d/f', 'e'], []],
    ['nothing', [], ['a'], []],
  ])('%s', (_, one, other, shared) => {
    expect(sharedPaths(one, other)).toEqual(shared)
  })
})

const path = fc
  .array(fc.constantFrom('a', 'b', 'B', 'c'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'))
const paths = fc.uniqueArray(path, { maxLength: 5 })

test('F6: overlappingPairs finds exactly the pairs that share a path, in either direction', () => {
  fc.assert(
    fc.property(fc.array(paths, { maxLength: 6 }), (sets) => {
      const expected: [number, number][] = []
      for (const [one, first] of sets.entries()) {
        for (let other = one + 1; other < sets.length; other++) {
          const second = sets[other] ?? []
          const shares = sharedPaths(first, second).length > 0
          expect(shares).toBe(sharedPaths(second, first).length > 0)
          if (shares) expected.push([one, other])
        }
      }
      expect(overlappingPairs(sets)).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})
