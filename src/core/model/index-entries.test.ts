import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileFolder } from '../../../test/support/file-folder.ts'
import { entriesHash } from './index-entries.ts'

const root = fileFolder(os.tmpdir())
const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

function indexed(format: string, version: string) {
  const dir = mkdtempSync(path.join(root, 'index-'))
  const git = (...args: string[]) => execFileSync('git', ['-C', dir, ...args], { env, encoding: 'utf8' })
  git('init', '--quiet', `--object-format=${format}`)
  for (const name of ['a', 'long-name-of-a-file.txt', 'long-name-of-another.txt', 'z'])
    writeFileSync(path.join(dir, name), name)
  git('add', '--all')
  git('update-index', '--index-version', version)
  const read = () => readFileSync(path.join(dir, '.git/index'))
  return { dir, git, read }
}

describe.each([
  ['sha1', '2'],
  ['sha1', '3'],
  ['sha1', '4'],
  ['sha256', '2'],
  ['sha256', '4'],
])('P1.6: an index of %s in version %s', (format, version) => {
  test('P1.6: new stat data change no entry', () => {
    const { dir, git, read } = indexed(format, version)
    const before = read()
    utimesSync(path.join(dir, 'z'), 1, 1)
    git('update-index', '--refresh')
    expect(read().equals(before)).toBe(false)
    expect(entriesHash(before)).toBeDefined()
    expect(entriesHash(read())).toBe(entriesHash(before))
  })

  test.each(['--assume-unchanged', '--skip-worktree', '--chmod=+x', '--force-remove'])(
    'P1.6: %s changes one',
    (change) => {
      const { git, read } = indexed(format, version)
      const before = read()
      git('update-index', change, 'z')
      expect(entriesHash(read())).toBeDefined()
      expect(entriesHash(read())).not.toBe(entriesHash(before))
    },
  )
})

test('P1.6: of a split index, and of a file that is none, the entries are not known', () => {
  const { git, read } = indexed('sha1', '2')
  git('update-index', '--split-index')
  expect(entriesHash(read())).toBeUndefined()
  for (const text of ['', 'DIRC', `DIRC\0\0\0\u0002\0\0\0\u0005${'x'.repeat(100)}`])
    expect(entriesHash(Buffer.from(text))).toBeUndefined()
})
