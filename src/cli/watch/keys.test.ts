import { expect, test } from 'vitest'
import { keysOf } from './keys.ts'

test('W1: letters, arrows of both kinds, and keys that come together', () => {
  expect(keysOf('j')).toEqual(['j'])
  expect(keysOf('\u001B[A\u001BOBk\r')).toEqual(['up', 'down', 'k', 'enter'])
  expect(keysOf('\u001B[5~ \u001B[H\u001B[4~')).toEqual(['page-up', 'page-down', 'home', 'end'])
  expect(keysOf('\u0003')).toEqual(['ctrl-c'])
  expect(keysOf('\u001B')).toEqual(['escape'])
  expect(keysOf('日')).toEqual(['日'])
  expect(keysOf('')).toEqual([])
})

test('W2: an escape sequence is one key, so that no letter of it is taken for a command', () => {
  // Alt-a, a function key, the arrow with shift, and what a terminal answers about itself.
  for (const sent of ['\u001B[15~', '\u001B[1;2A', '\u001B[?62;22c', '\u001B[I', '\u001BOP', '\u001Ba'])
    for (const key of keysOf(sent)) expect('jkadtsynroq?u'.includes(key)).toBe(false)
})
