import { expect, test } from 'vitest'
import { changedKeys } from './config-keys.ts'

test.each<[string, string, string, string[]]>([
  [
    'a key that is new',
    '[core]\n\tbare = false\n',
    '[core]\n\tbare = false\n\tfsmonitor = evil\n',
    ['core.fsmonitor'],
  ],
  ['a section that is gone', '[user]\n\tname = U\n[alias]\n\tx = y\n', '[user]\n\tname = U\n', ['alias.x']],
  [
    'a subsection',
    '[remote "My.Origin"]\n\turl = a\n',
    '[remote "My.Origin"]\n\tURL = b\n',
    ['remote.My.Origin.url'],
  ],
  ['one more value', '[a]\n\tb = 1\n', '[a]\n\tb = 1\n\tb = 2\n', ['a.b']],
  ['a key on the line of its section', '', '[core] hooksPath = /tmp\n', ['core.hookspath']],
  ['a value that goes on', '[a]\n\tb = 1 \\\n2\n', '[a]\n\tb = 1 \\\n3\n', ['a.b']],
  ['nothing but space and comments', '[a]\n\tb = 1\n', '# mine\n[a]\n  b = 1\n', []],
])('P1: of a config the keys that changed are told: %s', (_, before, after, keys) => {
  expect(changedKeys(before, after)).toEqual(keys)
})
