import { expect, test } from 'vitest'
import { splitTools, toolUse } from './tool-list.ts'

test.each([
  ['Read,Bash(git log *)', ['Read', 'Bash(git log *)']],
  ['Bash(node -e "f()"), Edit', ['Bash(node -e "f()")', 'Edit']],
  ['Bash(f(a, b)),Read', ['Bash(f(a, b))', 'Read']],
  [`Bash(echo "a,(b"),Read`, [`Bash(echo "a,(b")`, 'Read']],
  ['', []],
  [' , Read ,', ['Read']],
])('H3: a list is split at commas outside of brackets and quotes: %s', (list, tools) =>
  expect(splitTools(list)).toEqual(tools),
)

test.each([
  ['Read', { name: 'Read', use: undefined }],
  ['Bash(npm test *)', { name: 'Bash', use: 'npm test *' }],
  ['Bash(node -e "f()")', { name: 'Bash', use: 'node -e "f()"' }],
  ['Bash(*)', { name: 'Bash', use: undefined }],
  ['Bash(:*)', { name: 'Bash', use: undefined }],
  ['mcp__*', { name: 'mcp__*', use: undefined }],
  ['Edit((app)/x)', { name: 'Edit', use: '(app)/x' }],
])('H3: a use is what the outer brackets hold: %s', (pattern, use) => expect(toolUse(pattern)).toEqual(use))

test.each(['Bash(npm publish', 'Bash)', 'Bash(a)b', 'Bash()', '', '(x)', 'two words', 'Bash(a)(b)'])(
  'H3: what is no use of a tool is refused: %s',
  (pattern) => expect(() => toolUse(pattern)).toThrow('is no tool and no use of one'),
)

test('many stars take no time', () => {
  const begun = performance.now()
  expect(toolUse(`Bash(${'*'.repeat(40)}x)`).use).toBe(`${'*'.repeat(40)}x`)
  expect(toolUse(`Bash(${'*'.repeat(40)} :*)`).use).toBeUndefined()
  expect(performance.now() - begun).toBeLessThan(1_000)
})
