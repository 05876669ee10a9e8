import { expect, test } from 'vitest'
import { conflictLines } from './conflict-lines.ts'

const [ours, theirs] = ['a'.repeat(40), 'b'.repeat(40)]
const marked = (mine: string[], other: string[], end = '') => [
  `<<<<<<< ${ours}${end}`,
  ...mine,
  '=======',
  ...other,
  `>>>>>>> ${theirs}${end}`,
]
const lines = (...text: string[]) => conflictLines(Buffer.from(`${text.join('\n')}\n`))

test('F1: lines are counted in the file of the side that lands', () => {
  expect(lines('1', ...marked(['x', 'y', 'z'], ['2', '3']), '4', ...marked([], ['5']), '6')).toEqual([
    { from: 2, to: 3 },
    { from: 5, to: 5 },
  ])
})

test('F1: where the side that lands has deleted the lines, the next line is named', () => {
  expect(lines('1', ...marked(['x'], []), '2')).toEqual([{ from: 2, to: 2 }])
})

test('F1: markers of a renamed file, with CRLF, and of SHA-256 count', () => {
  expect(lines(...marked(['x'], ['1'], ':a/b c'))).toEqual([{ from: 1, to: 1 }])
  expect(lines(...marked(['x'], ['1']).map((line) => `${line}\r`))).toEqual([{ from: 1, to: 1 }])
  const long = marked(['x'], ['1']).map((line) => line.replace(/a{40}|b{40}/, (oid) => oid.padEnd(64, '0')))
  expect(lines(...long)).toEqual([{ from: 1, to: 1 }])
})

test('F1: markers that the file had before, and headings, are text', () => {
  expect(lines('Head', '=======', '<<<<<<< HEAD', '1', '=======', '>>>>>>> main')).toEqual([])
  expect(lines('Head', '=======', ...marked(['x'], ['2', '=======', '4']))).toEqual([{ from: 3, to: 5 }])
})
