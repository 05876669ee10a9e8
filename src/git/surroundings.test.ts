/** What is read of a git folder before and after a run, and how much of it is kept. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { strays } from '../core/runs/strays.ts'
import type { Surroundings } from '../core/model/surroundings.ts'
import { type TestRepo, testRepo } from '../../test/support/repo.ts'
import { gitExec } from './exec.ts'
import { readSurroundings } from './surroundings.ts'

const inGit = (repo: TestRepo, name: string) => path.join(repo.dir, '.git', name)

function reading(repo: TestRepo) {
  const gitDir = inGit(repo, '')
  const place = { gitDir, commonDir: gitDir, checkout: repo.dir }
  return readSurroundings(gitExec({ env: repo.env, recordChild: () => () => {} }), place)
}

const changed = (before: Surroundings, after: Surroundings) =>
  strays(before, after, { branches: new Set() }).map(({ change: { what, kept } }) => [what, kept])

describe('readSurroundings', () => {
  test('M2: a thousand files are read of each folder; of more it is told how many there are', async () => {
    const repo = testRepo()
    for (const folder of ['one', 'two']) {
      mkdirSync(inGit(repo, folder))
      for (let n = 1000; n < 1900; n++) writeFileSync(inGit(repo, `${folder}/${n}`), '')
    }
    const before = await reading(repo)
    expect([before.files.has('one/1899'), before.files.has('two/1899')]).toEqual([true, true])
    for (let n = 1900; n < 2001; n++) writeFileSync(inGit(repo, `two/${n}`), '')
    const after = await reading(repo)
    expect(after.files.get('two/and more')?.look).toBe('1001 files')
    expect(after.files.has('one/and more')).toBe(false)
    expect(changed(before, after)).toContainEqual(['two/and more', false])
  })

  test('M2: of what is above 16 MiB in all only a hash is kept, and what did not change is no stray', async () => {
    const repo = testRepo()
    const put = (n: number, text = 'x') =>
      writeFileSync(inGit(repo, `many/${n}`), Buffer.alloc(1_000_000, text))
    mkdirSync(inGit(repo, 'many'))
    for (let n = 11; n < 31; n++) put(n)
    const before = await reading(repo)
    expect([before.files.get('many/11')?.content, before.files.get('many/30')?.content]).toEqual([
      expect.any(Buffer),
      undefined,
    ])
    // Now there is room for files that had none.
    for (let n = 12; n < 17; n++) rmSync(inGit(repo, `many/${n}`))
    put(30, 'y')
    expect(changed(before, await reading(repo))).toEqual([
      ...[12, 13, 14, 15, 16].map((n) => [`many/${n}`, true]),
      ['many/30', false],
    ])
  })
})
