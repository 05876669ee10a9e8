/** Messages are taken only in the form that they must have. */
import { expect, test } from 'vitest'
import { Misshapen, shaped } from './shape.ts'

const shape = { type: 'string', list: [{ n: 'number' }], any: 'any' } as const

test('M5: known fields are taken, others and nulls are left out', () => {
  const value = JSON.parse('{"type":"x","list":[{"n":1,"m":2}],"any":[null],"more":1,"__proto__":{"a":1}}')
  expect(shaped(shape, value)).toEqual({ type: 'x', list: [{ n: 1 }], any: [null] })
  expect(shaped(shape, { type: null })).toEqual({})
})

test.each([
  [null, 'it is no object'],
  ['x', 'it is no object'],
  [{ type: 1 }, 'it.type is no string'],
  [{ list: {} }, 'it.list is no list'],
  [{ list: [null] }, 'it.list.0 is no object'],
  [{ list: [{ n: 1 }, { n: '1' }] }, 'it.list.1.n is no number'],
])('M5: %j is refused, with the place', (value, reason) => {
  expect(() => shaped(shape, value)).toThrow(new Misshapen(reason))
})
