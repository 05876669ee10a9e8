import { expect, test } from 'vitest'
import { parseContent, parseName } from './records.ts'

test('M7: the name of a record is parsed', () => {
  expect(parseName('77-123.88')).toEqual({ name: '77-123.88', pid: 77, startedAt: '123', child: 88 })
})

test.each([
  '77-123.0',
  '77-123.1',
  '77-123.-1',
  '77-123.00',
  '77-123.088',
  '77-123.8e8',
  '1-2.88',
  '77-x.88',
  '77-123.',
  'x',
])('M7: %s is no name of a record', (name) => {
  expect(parseName(name)).toBeUndefined()
})

test.each([
  [{ startedAt: '1', boot: 'a-b' }, true],
  [{ startedAt: '1', boot: 'a-b', changing: '/repo/.git' }, true],
  [{ startedAt: '1', boot: 'a-b', changing: '.git' }, false],
  [{ startedAt: 1, boot: 'a-b' }, false],
  [{ startedAt: '', boot: 'a-b' }, false],
  [{ startedAt: '1' }, false],
  [null, false],
  ['text', false],
])('M7: whether %j is the content of a record', (content, expected) => {
  expect(parseContent(content) !== undefined).toBe(expected)
})
