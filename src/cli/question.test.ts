import { expect, test } from 'vitest'
import { visible } from './output.ts'
import { pagesOf, questionLines } from './question.ts'

const asked = (input: unknown) =>
  ({ event: 'asked', tool: 'Bash', summary: '', reason: 'why', input }) as const

test('G11: every line of the input has a mark, and edits look like a diff', () => {
  const input = { file_path: 'a', old_string: 'x\ny', new_string: 'z', more: [1] }
  expect(questionLines(asked(input))).toEqual([
    'Bash (why)',
    '  file_path:',
    '  | a',
    '  old_string:',
    '  - x',
    '  - y',
    '  new_string:',
    '  + z',
    '  more:',
    '  | [',
    '  |   1',
    '  | ]',
  ])
})

test.each([
  ['a\u00A0b', 'a\\u{a0}b'],
  ['a\u202Eb\u200B', 'a\\u{202e}b\\u{200b}'],
  ['a\tb\u0085\u001B', 'a\\u{9}b\\u{85}\\u{1b}'],
  ['\u3164\u2800\uFE0F', '\\u{3164}\\u{2800}\\u{fe0f}'],
  ['a   b  c ', 'a⟨3 spaces⟩b  c⟨1 space⟩'],
  ['    indented', '    indented'],
  ['Größe 漢字', 'Größe 漢字'],
])('G11: what cannot be seen is spelled out: %j', (text, shown) => expect(visible(text)).toBe(shown))

test('G11: pages hold every line once, within the height and the width', () => {
  const lines = [...Array.from({ length: 50 }, (_, n) => `line ${n}`), 'x'.repeat(500)]
  const pages = pagesOf(lines, 40, 12)
  expect(pages.every((page) => page.length <= 10)).toBe(true)
  expect(pages.flat().every((line) => line.length <= 39)).toBe(true)
  expect(pages.flat().join('\n').replaceAll('\n    \\ ', '')).toBe(lines.join('\n'))
})
