import { expect, test } from 'vitest'
import { isLooking, isPaged, isServed } from './served.ts'

test.each([
  [[], true],
  [['list', '--json'], true],
  [['show', '-'], true],
  [['accept', 'T1', '--as', 'squash'], true],
  [['accept', 'T1', '--as', 'pr'], false],
  [['accept', 'T1', '--as=pr'], false],
  [['accept', 'T1', '--hooks'], false],
  [['accept', 'T1', '--hunks', '-'], false],
  [['list', '-C', '/elsewhere'], false],
  [['list', '-C/elsewhere'], false],
  [['list', '--directory=/elsewhere'], false],
  [['--json', 'list'], false],
  [['run', '--', 'npm', 'test'], false],
  [['start', 'T1'], false],
  [['open', 'T1'], false],
])('whether the daemon may play offshoot %j: %s', (argv, expected) => {
  expect(isServed(argv, { PATH: '/bin' })).toBe(expected)
})

test.each([
  ['OFFSHOOT_HOME', true],
  ['GIT_SSL_CAINFO', true],
  ['GIT_SSH_COMMAND', true],
  ['OFFSHOOT_RUN', false],
  ['OFFSHOOT_ACCEPT_STRATEGY', false],
  ['GIT_DIR', false],
  ['GIT_AUTHOR_NAME', false],
  ['CI', false],
])('whether it may with the variable %s: %s', (name, expected) => {
  expect(isServed(['list'], { [name]: 'x' })).toBe(expected)
})

test('a line that changes something is not repeated, and one with a pager stays at the terminal', () => {
  expect([[], ['list'], ['diff', 'T1']].every(isLooking)).toBe(true)
  expect([['accept', 'T1'], ['undo'], ['checkpoint']].some(isLooking)).toBe(false)
  expect([['diff'], ['log', 'T1'], ['show']].every(isPaged)).toBe(true)
  expect([[], ['list'], ['accept']].some(isPaged)).toBe(false)
})
