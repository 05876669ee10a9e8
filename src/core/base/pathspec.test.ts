import { expect, test } from 'vitest'
import { fromBytes, toText } from '../model/bytes.ts'
import { loadPathMatcher, rootedSpec } from './pathspec.ts'

const pathMatcher = await loadPathMatcher()

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
  ['new*', 'new\nline', true],
  ['*', '.env', true],
  ['**', '.a/.b', true],
  ['**', '\n/b', true],
  ['', 'a', false],
  ['[a-c].ts', 'b.ts', true],
  ['[!a-c].ts', 'b.ts', false],
  ['[[:digit:]].ts', '1.ts', true],
  ['app/[id]/a.ts', 'app/[id]/a.ts', true],
  ['app/[id]', 'app/[id]/a.ts', true],
  ['app/(group)/*', 'app/(group)/a.ts', true],
  ['+(a)*', '+(a)b', true],
  ['+(a)*', 'aab', false],
  ['x(a|b)*', 'x(a|b)c', true],
  ['x(a|b)*', 'x(a', false],
  ['x(a|b)*', 'b)x', false],
  ['{a,b}*', '{a,b}c', true],
  ['{a,b}', 'a', false],
  ['!a*', '!ab', true],
  ['!a', 'b', false],
  ['"a"*', '"a"b', true],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['src/*', 'src/a/b', true],
  ['src/*/c', 'src/a/b/c', false],
  ['a/**/b', 'a/b', true],
])('A5: %j and %j: %s', (spec, path, fits) => {
  expect(pathMatcher([spec])(path)).toBe(fits)
})

test('A5: a name that is no UTF-8 is matched by a pattern, and by what it is shown as', () => {
  const name = toText(fromBytes(Buffer.from([0x61, 0xff, 0x62])))
  for (const spec of ['a?b', 'a*', name]) expect(pathMatcher([spec])(name)).toBe(true)
  expect(pathMatcher(['a'])(name)).toBe(false)
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
