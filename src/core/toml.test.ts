import { expect, test } from 'vitest'
import { parsedToml } from './toml.ts'

const values = (text: string) => Object.fromEntries(parsedToml(text))

test('H6: tables, texts of every kind, numbers and truths are read', () => {
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
  expect(values(text.join('\n'))).toEqual({
    version: 1,
    name: 'Shop',
    'setup.script': 'set -eu\necho "a # b" \\n\n',
    'setup.darwin.script': 'one "two"\n\tthree é',
    'cleanup.script': 'rm -rf $HOME/x # y',
    'cleanup.quick': false,
  })
  expect(values('[setup]\r\nscript = "a"\r\n')).toEqual({ 'setup.script': 'a' })
  expect(values('')).toEqual({})
})

test.each([
  ['a list', 'script = ["a"]', 1],
  ['a table on one line', '[setup]\nenv = { A = "b" }', 2],
  ['a date', '\n\nat = 2026-11-16', 3],
  ['a fraction', 'a = 1.5', 1],
  ['a quoted key', '"a b" = 1', 1],
  ['a text without an end', "script = '''\necho", 1],
  ['a text on one line without an end', 'script = "echo', 1],
  ['something after a text', "script = '''a''' b", 1],
  ['an escape that there is not', 'script = "\\q"', 1],
  ['a point beyond all characters', 'script = "\\UFFFFFFFF"', 1],
  ['a broken table', '[setup', 1],
  ['a word', 'setup', 1],
])('H6: %s is refused, with its line', (_, text, line) => {
  expect(() => parsedToml(text)).toThrow(
    expect.objectContaining({ code: 'WT_016', message: expect.stringContaining(`Line ${line} `) }),
  )
})
