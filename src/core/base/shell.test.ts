import { expect, test } from 'vitest'
import { hole, loadShell } from './shell.ts'

const read = await loadShell()
const words = (line: string) => read(line).commands.map((command) => command.words)

test.each([
  ['n\\pm \'pu\'"bl"ish', [['npm', 'publish']]],
  ["$'\\x6epm' x", [['npm', 'x']]],
  ['a; b | c && d', [['a'], ['b'], ['c'], ['d']]],
  ['echo "$(id)"', [['echo', hole.any], ['id']]],
  ['cat ~/x $HOME/y ~bob', [['cat', `${hole.home}/x`, `${hole.home}/y`, hole.any]]],
  ['ls *.ts a[bc] {x,y}', [['ls', `${hole.glob}.ts`, `a${hole.glob}`, hole.any]]],
  ['alias x="a b"', [['alias', 'x=a b']]],
  ['cat <<EOF\n$(id)\nEOF', [['cat'], ['id']]],
])('H3: the words of every command are read without quotes: %s', (line, expected) =>
  expect(words(line)).toEqual(expected),
)

test.each(['ls', 'ls -la | head -5', 'a && b; c', "grep 'a b' c", 'ls 2>&1', 'A=b c', 'ls *.ts'])(
  'H3: %s is plain',
  (line) => expect(read(line).plain).toBe(true),
)

test.each([
  'ls # x',
  'ls \\\n x',
  '(ls)',
  '! ls',
  'ls &',
  'echo $X',
  'echo $(id)',
  'ls "',
  'if a; then b; fi',
  'ls\r',
  '',
])('H3: %j is not plain', (line) => expect(read(line).plain && read(line).commands.length > 0).toBe(false))

test.each(['ls "', 'a $(b', 'if x', 'ls\0', 'a\u001B[2K', 'x'.repeat(300_000)])(
  'H3: what cannot be read says so',
  (line) => expect(read(line).unread).toBeTypeOf('string'),
)
