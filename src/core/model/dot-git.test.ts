/** Names that git refuses in a commit, and similar ones that it accepts. */
import { expect, test } from 'vitest'
import { fromText } from './bytes.ts'
import { isRefused } from './dot-git.ts'

test.each([
  '.git',
  '.GIT/config',
  'a/.Git',
  'git~1',
  'GIT~1/x',
  '.git ',
  '.git.',
  '.git . .',
  '.git:stream',
  'a\\.git',
  'a\\git~1\\b',
  '.g\u200cit',
  '\ufeff.git',
  'a/.gi\u206ft/b',
])('K5: git refuses %j in a commit, so it is in no step', (name) => {
  expect(isRefused(fromText(name))).toBe(true)
})

test.each([
  'git',
  '.gitignore',
  '.gitattributes',
  '.github/x',
  'a.git',
  '.git2',
  'git~2',
  '.git~1',
  'x/..git',
  '\u200c',
  'é',
])('K5: %j is a name like any other', (name) => {
  expect(isRefused(fromText(name))).toBe(false)
})
