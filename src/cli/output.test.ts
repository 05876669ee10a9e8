import { describe, expect, test } from 'vitest'
import { fc } from '../../test/support/random.ts'
import { counted } from '../core/base/counted.ts'
import { displayWidth } from './display-width.ts'
import {
  ago,
  foldedLines,
  painter,
  printable,
  printableDiff,
  printableText,
  shortList,
  table,
} from './output.ts'

/** Controls, and what is invisible or changes the direction of text. */
const dangerous = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

describe('printable', () => {
  test('S1: nothing that it answers can move the cursor, hide or turn the text around', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(dangerous)
      }),
    )
  })

  test('S1: what is harmless stays, what is not is shown as what it is', () => {
    expect(printable('größer 日本 🚀')).toBe('größer 日本 🚀')
    expect(printable('\u001b[2J\r')).toBe('\\u{1b}[2J\\u{d}')
    expect(printable('a\nb\tc')).toBe('a\\u{a}b\\u{9}c')
  })

  test('S1: text of several lines keeps them, and nothing else', () => {
    expect(printableText('a\r\n\tb\u001b]52;c;x\u0007')).toBe('a\n\tb\\u{1b}]52;c;x\\u{7}')
  })

  test('S1: the output of git keeps its colours, and nothing else', () => {
    expect(printableDiff('\u001b[32m+\u001b[m \u009b2J\u202e\u001b[2J\n')).toBe(
      '\u001b[32m+\u001b[m \\u{9b}2J\\u{202e}\\u{1b}[2J\n',
    )
  })
})

test('I1: columns are as wide as their widest cell, and lines have no spaces at their end', async () => {
  expect(
    await table([
      ['a', 'bb', ''],
      ['ccc', 'd', 'e'],
    ]),
  ).toBe('a    bb\nccc  d   e')
  expect(await table([])).toBe('')
})

test('I1: columns line up with wide, combining and escaped characters, too', async () => {
  const rows = ['plain', '日本', 'e\u0301', '🚀', '\u001b'].map((name) => [name, '|'])
  expect((await table(rows)).split('\n')).toEqual([
    'plain   |',
    '日本    |',
    'e\u0301       |',
    '🚀      |',
    '\\u{1b}  |',
  ])
})

test('I1: the first ten are named, the others counted', () => {
  const names = Array.from({ length: 12 }, (_, n) => `f${n}`)
  expect(shortList(names)).toBe('f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more')
  expect(shortList(['a', 'b'])).toBe('a, b')
})

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
])('I1: %s and its noun agree: %s', (count, said) => {
  expect(counted(count, 'file')).toBe(said)
})

test.each([
  [0, 'just now'],
  [59, 'just now'],
  [60, '1 minute ago'],
  [7_199, '1 hour ago'],
  [86_400 * 3, '3 days ago'],
  [-50, 'just now'],
])('I1: %s seconds are shown as %s', (seconds, words) => {
  const now = new Date('2026-11-15T12:00:00.000Z')
  expect(ago(new Date(now.getTime() - seconds * 1000).toISOString(), now)).toBe(words)
})

test('I1: colours only when they are wanted', () => {
  expect(painter(true)('bold', 'x')).toBe('\u001b[1mx\u001b[22m')
  expect(painter(false)('bold', 'x')).toBe('x')
})

test('I11: a table is cut to a width in the order of its columns, and a line that still is too long at its end', async () => {
  const rows = [
    ['T1', '日本語の title that is long', 'completed'],
    ['T2', 'short', 'failed: why'],
  ]
  const at = (width: number, least = 0) => table(rows, { width, cut: [{ column: 1, least }] })
  expect(await at(100)).toBe(await table(rows))
  expect((await at(24)).split('\n')).toEqual(['T1  日本語…  completed', 'T2  short    failed: why'])
  expect((await at(16)).split('\n')).toEqual(['T1  completed', 'T2  failed: why'])
  expect((await at(16, 4)).split('\n')).toEqual(['T1  日…   compl…', 'T2  sho…  faile…'])
  for (let width = 1; width < 40; width++)
    for (const line of (await at(width)).split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(width)
})

test('I11: text is folded between words, a long word where it must be, and nothing of it is lost', async () => {
  expect(await foldedLines('one two three', 7)).toEqual(['one two', 'three'])
  expect(await foldedLines('/a/long/path/of/folders\nx', 10)).toEqual([
    '/a/long/pa',
    'th/of/fold',
    'ers',
    'x',
  ])
  expect(await foldedLines('日本語', 5)).toEqual(['日本', '語'])
  expect(await foldedLines('one two', undefined)).toEqual(['one two'])
})
