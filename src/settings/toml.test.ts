/** TOML files of other tools, and mistakes in them. */
import { expect, test } from 'vitest'
import { parseToml } from './toml.ts'

test('H6: a file as Codex writes it is read', () => {
  const text = [
    '# made by a tool',
    'version = 1',
    'name = "Shop" # the name',
    '',
    '[setup]',
    "script = '''",
    'set -eu',
    'echo "a # b" \\n',
    "'''",
    '[ setup . darwin ] # another',
    'script = """\\',
    '    one \\"two\\"',
    '\tthree \\u00e9"""',
    '[cleanup]',
    "script = 'rm -rf $HOME/x # y'",
    'quick = false',
    '[[actions]]',
    'name = "Run"',
    'command = """npm start"""',
    '[[actions]]',
    'name = "Test"',
  ]
  expect(parseToml(text.join('\n'))).toEqual({
    version: 1,
    name: 'Shop',
    setup: { script: 'set -eu\necho "a # b" \\n\n', darwin: { script: 'one "two"\n\tthree é' } },
    cleanup: { script: 'rm -rf $HOME/x # y', quick: false },
    actions: [{ name: 'Run', command: 'npm start' }, { name: 'Test' }],
  })
  expect(parseToml('[setup]\r\nscript = "a"\r\n')).toEqual({ setup: { script: 'a' } })
  expect(parseToml('')).toEqual({})
})

test.each([
  ['a list', 'args = ["a", 1]', { args: ['a', 1] }],
  ['an inline table', 'env = { A = "b" }', { env: { A: 'b' } }],
  ['a date', 'at = 2026-11-16', { at: expect.any(Date) }],
  ['a fraction', 'a = 1.5', { a: 1.5 }],
  ['a quoted key', '"a b" = 1', { 'a b': 1 }],
  ['a dotted key', 'setup.script = "x"', { setup: { script: 'x' } }],
])('H6: %s is valid and is read', (_, text, value) => {
  expect(parseToml(text)).toEqual(value)
})

test.each([
  ['a string without an end', "\nscript = '''\necho", 2],
  ['a string on one line without an end', 'script = "echo', 1],
  ['something after a string', "script = '''a''' b", 1],
  ['an unknown escape', 'script = "\\q"', 1],
  ['a code point beyond all characters', 'script = "\\UFFFFFFFF"', 1],
  ['a table without an end', 'a = 1\n\n[setup', 3],
  ['a key without a value', 'setup', 1],
  ['a key that is set twice', '[setup]\nscript = "a"\nscript = "b"', 3],
  ['a table that is opened twice', '[setup]\na = 1\n[setup]\nb = 1', 3],
])('H6: %s is refused, with its line and a sentence', (_, text, line) => {
  expect(() => parseToml(text)).toThrow(
    expect.objectContaining({
      code: 'WT_016',
      message: expect.stringMatching(new RegExp(`^Line ${line} is not valid TOML: [^\\n]+\\.$`)),
    }),
  )
})
