import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestRepo } from '../support/repo.ts'
import { type RecordedOptions, recorded } from '../support/vault.ts'

/** A filter of the user's own, as LFS is one: in git the letters are turned, in the workspace they are plain. */
function globalFilter(repo: TestRepo): void {
  repo.git('config', '--global', 'filter.turn.clean', 'tr a-z n-za-m')
  repo.git('config', '--global', 'filter.turn.smudge', 'tr a-z n-za-m')
  repo.git('config', '--global', 'filter.turn.required', 'true')
}

function commitAll(repo: TestRepo): void {
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Base')
}

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

interface Converted extends RecordedOptions {
  /** What a.txt holds in the workspace though git has something else. */
  readonly raw: string | Buffer
  readonly edited: string | Buffer
}

const cases: Record<string, Converted> = {
  'eol=crlf': {
    files: { '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': 'one\ntwo\n' },
    raw: 'one\r\ntwo\r\n',
    edited: 'one\r\ntwo\nmixed\r\n',
  },
  'core.autocrlf=true of the user': {
    files: { 'a.txt': 'one\ntwo\n' },
    before: (repo) => repo.git('config', '--global', 'core.autocrlf', 'true'),
    raw: 'one\r\ntwo\r\n',
    edited: 'one\n',
  },
  'core.autocrlf=yes, written in another way': {
    files: { 'a.txt': 'one\ntwo\n' },
    before: (repo) => repo.git('config', '--global', 'core.autocrlf', 'yes'),
    raw: 'one\r\ntwo\r\n',
    edited: 'one\n',
  },
  'text=auto with core.eol=crlf of the repository': {
    files: { '.gitattributes': '* text=auto\n', 'a.txt': 'one\ntwo\n' },
    before: (repo) => repo.git('config', 'core.eol', 'crlf'),
    raw: 'one\r\ntwo\r\n',
    edited: 'three\r\n',
  },
  'text=auto, which changes nothing here': {
    files: { '.gitattributes': '* text=auto\n', 'a.txt': 'one\n' },
    raw: 'one\n',
    edited: 'one\r\n',
  },
  'UTF-16': {
    before: (repo) => {
      repo.write('.gitattributes', '*.txt text working-tree-encoding=UTF-16LE-BOM\n')
      repo.write('a.txt', utf16('größer\n'))
      commitAll(repo)
    },
    raw: utf16('größer\n'),
    edited: utf16('kleiner\r\n'),
  },
  "a filter in the user's own settings": {
    before: (repo) => {
      globalFilter(repo)
      repo.write('.gitattributes', '*.txt filter=turn\n')
      repo.write('a.txt', 'plain\n')
      commitAll(repo)
      expect(repo.git('cat-file', 'blob', 'HEAD:a.txt')).toBe('cynva\n')
    },
    raw: 'plain\n',
    edited: 'other\n',
  },
  "attributes in the user's own folder": {
    files: { 'a.txt': 'one\n' },
    before: (repo) => repo.write('../.config/git/attributes', '*.txt text eol=crlf\n'),
    raw: 'one\r\n',
    edited: 'two\n',
  },
  "attributes in the repository's info folder": {
    files: { 'a.txt': 'one\n' },
    before: (repo) => repo.write('.git/info/attributes', '*.txt text eol=crlf\n'),
    raw: 'one\r\n',
    edited: 'two\n',
  },
  ident: {
    files: { '.gitattributes': '*.txt ident\n', 'a.txt': '$Id$\n' },
    raw: '$Id: 055c8729cdcc372500a08db659c045e16c4409fb $\n',
    edited: '$Id: something else $\n',
  },
  'links that the repository has as plain files': {
    before: (repo) => {
      const blob = repo.git('hash-object', '-w', '--no-filters', 'a.txt').trim()
      repo.git('update-index', '--add', '--cacheinfo', `120000,${blob},link`)
      repo.git('commit', '--quiet', '--message=A link')
      repo.git('config', 'core.symlinks', 'false')
    },
    raw: 'one\n',
    edited: 'two\n',
  },
}

describe('K5: conversions of git do not touch the bytes of a step', () => {
  test.each(Object.entries(cases))('K5: %s', async (_, { raw, edited, ...options }) => {
    // `recorded` itself checks that step 0 is the workspace, and that a file nobody touched makes no step.
    const task = await recorded(options)
    const file = path.join(task.dir, 'a.txt')
    expect(readFileSync(file)).toEqual(Buffer.from(raw))
    writeFileSync(file, edited)
    await task.step()
    writeFileSync(path.join(task.dir, 'new.txt'), 'new\r\n$Id$\n')
    await task.step()
    rmSync(file)
    await task.step()
    await task.step({ created: false })
    await task.rewindAll()
  })

  test('K5: attributes that the agent writes convert nothing', async () => {
    const task = await recorded({ before: globalFilter })
    writeFileSync(path.join(task.dir, '.gitattributes'), '*.txt text eol=crlf filter=turn ident\n')
    writeFileSync(path.join(task.dir, 'a.txt'), 'one\r\n$Id$\n')
    await task.step()
    writeFileSync(path.join(task.dir, '.gitattributes'), '*.txt working-tree-encoding=UTF-16\n')
    await task.step()
    writeFileSync(path.join(task.dir, 'a.txt'), 'not UTF-16 at all\n')
    await task.step()
    await task.rewindAll()
  })
})

describe("K5: the user's settings for looking at files hide no change", () => {
  test.each([
    ['core.fileMode', 'false'],
    ['core.trustctime', 'false'],
    ['core.checkStat', 'minimal'],
    ['core.ignoreStat', 'true'],
    ['core.symlinks', 'false'],
    ['core.preloadIndex', 'false'],
    ['core.precomposeUnicode', 'true'],
    ['index.version', '4'],
    ['core.splitIndex', 'true'],
    ['core.untrackedCache', 'true'],
    ['feature.manyFiles', 'true'],
    ['core.fsmonitor', 'true'],
    ['status.showUntrackedFiles', 'no'],
  ])('K5: %s=%s', async (key, value) => {
    const task = await recorded({
      files: { 'a.txt': 'one\n', 'run.sh': 'true\n' },
      before: (repo) => {
        repo.git('config', '--global', key, value)
        repo.git('config', key, value)
      },
    })
    const { chmodSync, statSync, symlinkSync, utimesSync } = await import('node:fs')
    const file = path.join(task.dir, 'a.txt')
    chmodSync(path.join(task.dir, 'run.sh'), 0o755)
    symlinkSync('a.txt', path.join(task.dir, 'link'))
    await task.step()
    const { atime, mtime } = statSync(file)
    writeFileSync(file, 'two\n')
    utimesSync(file, atime, mtime)
    await task.step()
    await task.rewindAll()
  })
})
