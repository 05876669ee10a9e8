import { expect, test } from 'vitest'
import { pathMatcher, rootedSpec } from './pathspec.ts'

test.each([
  ['src', 'src/a.ts', true],
  ['src/', 'src/deep/a.ts', true],
  ['./src', 'src', true],
  ['src', 'srcs/a.ts', false],
  ['a.ts', 'a.ts', true],
  ['a.ts', 'src/a.ts', false],
  ['*.md', 'README.md', true],
  ['*.md', 'docs/a.md', false],
  ['**/*.md', 'docs/a.md', true],
  ['**/*.md', 'a.md', true],
  ['docs/**', 'docs/a/b', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['a.c', 'abc', false],
  ['(x)[y]', '(x)[y]', true],
  ['new\nline', 'new\nline', true],
])('A5: %j and %j: %s', (spec, path, fits) => {
  expect(pathMatcher([spec])(path)).toBe(fits)
})

test.each([
  ['x', '', 'x'],
  ['x', 'd', 'd/x'],
  ['./x/', 'd', 'd/x/'],
  ['../x', 'd/e', 'd/x'],
  ['.', 'd', 'd'],
  ['.', '', '**'],
  [':/x', 'd', 'x'],
  [':/', 'd', '**'],
  ['*.md', 'd', 'd/*.md'],
])('A5: %j said in %j is %j', (spec, folder, rooted) => {
  expect(rootedSpec(spec, folder)).toBe(rooted)
})

test.each(['..', '../x', 'a/../../x', ':/../x'])('A5: %j leads out of the repository', (spec) => {
  expect(() => rootedSpec(spec, '')).toThrow('leads out of the repository')
})
