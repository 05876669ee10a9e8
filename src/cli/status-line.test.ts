import { expect, test } from 'vitest'
import { cutLine } from './status-line.ts'

test.each([
  ['Bash npm test', ' · 3 steps', 40, 'Bash npm test · 3 steps'],
  ['Bash npm test --all', ' · 3 steps', 20, 'Bash npm … · 3 steps'],
  ['Bash', ' · 3 steps', 6, '… · 3 '],
])('I11: of a status line the text is cut, and not what follows: %s%s in %s', (text, end, width, line) =>
  expect(cutLine(text, end, width)).toBe(line),
)
