import { expect, test } from 'vitest'
import type { Mode } from '../model/tree.ts'
import { risks } from './risk.ts'

const file = (path: string, content = '', mode: Mode = '100644', from?: Mode) => ({
  path,
  from: from ? { mode: from, oid: 'a' } : null,
  to: { mode, oid: 'b' },
  content: Buffer.from(content),
})

test.each([
  ['.husky/pre-commit'],
  ['.vscode/tasks.json'],
  ['.claude/settings.json'],
  ['.github/workflows/ci.yml'],
  ['package.json'],
  ['sub/package.json'],
  ['.envrc'],
])('A9: %s is named as something that runs code later', (path) => {
  expect(risks([file(path)]).runsCode).toEqual([path])
})

test('A9: an executable bit that is new is named; one that was there is not', () => {
  const found = risks([
    file('new.sh', '', '100755'),
    file('old.sh', '', '100755', '100755'),
    file('plain.txt'),
  ])
  expect(found).toEqual({ runsCode: ['new.sh'], refused: [] })
})

test.each([
  ['/etc/passwd', 'link'],
  ['../outside', 'link'],
  ['../../x', 'sub/link'],
  ['a/../../x', 'link'],
])('A9: a link to %s at %s leads out', (target, path) => {
  expect(risks([file(path, target, '120000')]).refused).toHaveLength(1)
})

test.each([
  ['inside', 'link'],
  ['../beside', 'sub/link'],
])('A9: a link to %s at %s stays inside', (target, path) => {
  expect(risks([file(path, target, '120000')]).refused).toEqual([])
})

test.each([
  ['.env', 'A=1'],
  ['config/.env.production', 'A=1'],
  ['id_rsa', ''],
  ['server.pem', ''],
  ['notes.txt', '-----BEGIN RSA PRIVATE KEY-----'],
  ['notes.txt', `token = ghp_${'a'.repeat(36)}`],
  ['notes.txt', 'AKIAABCDEFGHIJKLMNOP'],
])('A9: %s with %j looks like a secret', (path, content) => {
  expect(risks([file(path, content)]).refused).toHaveLength(1)
})

test.each([
  ['.env.example', 'A='],
  ['src/env.ts', 'export const env = 1'],
  ['token.md', 'what a token is'],
])('A9: %s with %j does not', (path, content) => {
  expect(risks([file(path, content)]).refused).toEqual([])
})

test('A9: a submodule is refused, a deletion never', () => {
  expect(risks([file('sub', '', '160000')]).refused).toHaveLength(1)
  expect(risks([{ ...file('.env'), to: null }]).refused).toEqual([])
})
