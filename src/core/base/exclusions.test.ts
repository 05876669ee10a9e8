import { expect, test } from 'vitest'
import { type Exclusion, requireCombinable } from './exclusions.ts'

const rules: Exclusion<'--a' | '--b' | '--c'>[] = [
  { options: ['--a', '--b'], why: ': both name a branch', hint: 'Leave --b out.' },
  { options: ['--a', '--b', '--c'] },
]
const refused = (given: Record<'--a' | '--b' | '--c', unknown>) => () => requireCombinable(given, rules)

test('I5: the first broken rule names the two options, the reason and the way out', () => {
  expect(refused({ '--a': 'main', '--b': '', '--c': true })).toThrow(
    expect.objectContaining({
      code: 'WT_019',
      message: '--a cannot be combined with --b: both name a branch.',
      hint: 'Leave --b out.',
    }),
  )
  expect(refused({ '--a': undefined, '--b': true, '--c': 'x' })).toThrow(
    expect.objectContaining({ message: '--b cannot be combined with --c.', hint: 'Give one of them.' }),
  )
})

test('I5: an option that is undefined or false was not given', () => {
  expect(refused({ '--a': true, '--b': false, '--c': undefined })).not.toThrow()
})
