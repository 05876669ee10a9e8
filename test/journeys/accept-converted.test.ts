/** Files that look different in a checkout than git stores them, landed in every way and taken back. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

interface Fixture {
  readonly name: string
  readonly attributes: string
  readonly config?: (repo: TestRepo) => Record<string, string>
  /** A text as it lies in a checkout. */
  readonly raw: (text: string) => Buffer
  /** A text as git stores it. */
  readonly stored?: (text: string) => string
  /** The strategies with which edits of both sides in one file can be merged: that goes by lines only. */
  readonly merges: readonly string[]
}

const strategies = ['patch', 'squash', 'merge', 'rebase'] as const

const crlf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))

/** A store beside the repository and pointers in it. */
function largeFiles(repo: TestRepo): Record<string, string> {
  const [store, script] = [path.join(repo.home, 'store'), path.join(repo.home, 'large-files')]
  mkdirSync(store)
  const clean = `sum=$(tee '${store}/draft.'$$ | sha1sum | cut -d' ' -f1); mv '${store}/draft.'$$ '${store}/'$sum; echo "pointer $sum"`
  writeFileSync(
    script,
    `#!/bin/sh\nif [ "$1" = clean ]; then ${clean}; else read -r _ sum; cat '${store}/'$sum; fi\n`,
    {
      mode: 0o755,
    },
  )
  return {
    'filter.large.clean': `'${script}' clean`,
    'filter.large.smudge': `'${script}' smudge`,
    'filter.large.required': 'true',
  }
}

const fixtures: Fixture[] = [
  { name: 'eol=crlf', attributes: '*.txt eol=crlf\n', raw: crlf, merges: strategies },
  {
    name: 'core.autocrlf',
    attributes: '',
    config: () => ({ 'core.autocrlf': 'true' }),
    raw: crlf,
    merges: strategies,
  },
  {
    name: 'a filter for large files',
    attributes: '*.txt filter=large -text\n',
    config: largeFiles,
    raw: (text) => Buffer.from(text),
    stored: (text) => `pointer ${execFileSync('sha1sum', { input: text, encoding: 'utf8' }).slice(0, 40)}\n`,
    merges: [],
  },
  {
    name: 'working-tree-encoding=UTF-16',
    attributes: '*.txt working-tree-encoding=UTF-16\n',
    raw: (text) => execFileSync('iconv', ['-f', 'UTF-8', '-t', 'UTF-16'], { input: text }),
    merges: strategies,
  },
  {
    name: 'working-tree-encoding=UTF-16LE-BOM',
    attributes: '*.txt working-tree-encoding=UTF-16LE-BOM eol=crlf\n',
    raw: (text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le'),
    merges: strategies,
  },
]

const lines = (change: Record<number, string> = {}) =>
  Array.from({ length: 20 }, (_, n) => `${change[n + 1] ?? `lïne ${n + 1}`}\n`).join('')

function prepared({ attributes, config }: Fixture): TestRepo {
  const repo = testRepo({ '.gitattributes': attributes, plain: 'plain\n' })
  const settings = { 'user.name': 'User', 'user.email': 'user@example.com', ...config?.(repo) }
  for (const [key, value] of Object.entries(settings)) repo.git('config', '--global', key, value)
  return repo
}

const cases = fixtures.flatMap((fixture) => strategies.map((as) => ({ name: fixture.name, as, fixture })))

test.each(cases)('A1, A2, A3, P3: $name through $as and undo', async ({ as, fixture }) => {
  const { raw, stored = (text: string) => text, merges } = fixture
  const repo = prepared(fixture)
  for (const name of ['doc.txt', 'gone.txt', 'mine.txt', 'dirty.txt']) repo.write(name, raw(lines()))
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=As the attributes say')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  const agent = (name: string) => path.join(task.path, name)
  expect(readFileSync(agent('doc.txt'))).toEqual(raw(lines()))
  writeFileSync(agent('doc.txt'), raw(lines({ 18: 'ägent' })))
  await lib.checkpoint({ task: 'T1' })
  writeFileSync(agent('new.txt'), raw(lines({ 1: 'nëw' })))
  rmSync(agent('gone.txt'))
  await lib.checkpoint({ task: 'T1' })

  const together = merges.includes(as)
  repo.write(together ? 'doc.txt' : 'mine.txt', raw(lines({ 2: 'üser' })))
  repo.git('commit', '--quiet', '--all', '--message=Moved on')
  repo.write('dirty.txt', raw(lines({ 3: 'stäged' })))
  repo.git('add', 'dirty.txt')
  repo.write('dirty.txt', raw(lines({ 3: 'ünstaged' })))
  repo.write('untracked.txt', raw(lines()))
  const before = checkoutState(repo)

  const { operation } = await lib.accept({ task: 'T1', as })
  const doc = lines({ 18: 'ägent', ...(together && { 2: 'üser' }) })
  const there = (name: string) => readFileSync(path.join(repo.dir, name))
  expect(there('doc.txt')).toEqual(raw(doc))
  expect(there('new.txt')).toEqual(raw(lines({ 1: 'nëw' })))
  expect(existsSync(path.join(repo.dir, 'gone.txt'))).toBe(false)
  expect(there('dirty.txt')).toEqual(raw(lines({ 3: 'ünstaged' })))
  if (as === 'patch') expect(checkoutState(repo).index).toBe(before.index)
  else {
    expect(repo.git('show', 'HEAD:doc.txt')).toBe(stored(doc))
    expect(repo.git('show', 'HEAD:new.txt')).toBe(stored(lines({ 1: 'nëw' })))
  }
  const own = 'MM dirty.txt\n'
  const status = as === 'patch' ? `${own} M doc.txt\n D gone.txt\n?? new.txt\n` : own
  expect(repo.git('status', '--porcelain')).toBe(`${status}?? untracked.txt\n`)
  await lib.undo(operation)
  expect(checkoutState(repo)).toEqual(before)
  expect(repo.git('status', '--porcelain')).toBe(`${own}?? untracked.txt\n`)
})

test('A1: line ends that the user’s settings convert since are no change of the user’s', async () => {
  const repo = testRepo({ 'doc.txt': lines(), 'mine.txt': lines() })
  repo.git('config', '--global', 'core.autocrlf', 'true')
  repo.write('mine.txt', lines({ 2: 'üser' }))
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'doc.txt'), crlf(lines({ 10: 'ägent' })))
  writeFileSync(path.join(task.path, 'mine.txt'), crlf(lines({ 18: 'ägent' })))
  const before = checkoutState(repo)
  const { operation } = await lib.accept({ task: 'T1' })
  expect(repo.git('diff', '--numstat')).toBe('1\t1\tdoc.txt\n2\t2\tmine.txt\n')
  expect(readFileSync(path.join(repo.dir, 'mine.txt'))).toEqual(crlf(lines({ 2: 'üser', 18: 'ägent' })))
  await lib.undo(operation)
  expect(checkoutState(repo)).toEqual(before)
})

test('A3: a file that converts and has changed at one place on both sides is a conflict, and no other is', async () => {
  const repo = testRepo({ '.gitattributes': '*.txt working-tree-encoding=UTF-16LE-BOM\n' })
  const raw = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  for (const name of ['both.txt', 'fits.txt']) repo.write(name, raw(lines()))
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Encoded')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  for (const [name, at] of Object.entries({ 'both.txt': 3, 'fits.txt': 18 })) {
    writeFileSync(path.join(task.path, name), raw(lines({ [at]: 'ägent' })))
    repo.write(name, raw(lines({ 3: 'üser' })))
  }
  const before = checkoutState(repo)
  await expect(lib.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: [{ path: 'both.txt', kind: 'content' }] },
  })
  expect(checkoutState(repo)).toEqual(before)
})
