/** A worktree for each task, under the ids by which it was asked for: what is refused, and how it is told. */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FileSystem } from '../../../src/core/ports/files.ts'
import { type OpenRepo, type TaskView } from '../../../src/index.ts'
import { offshoot, type TestRepo, testRepo } from '../../support/repo.ts'
import { library, withEnv } from '../../support/workspace.ts'
import { refused } from './shared.ts'

describe('what is refused, and how it is told', () => {
  interface Started {
    readonly repo: TestRepo
    readonly lib: OpenRepo
    readonly task: TaskView
  }
  interface Row {
    readonly code: string
    readonly act: (started: Started) => Promise<unknown>
    readonly message: RegExp
    readonly hint: RegExp
    /** Where the error is about one. */
    readonly path?: (started: Started) => string
  }
  const rows: Row[] = [
    {
      code: 'WT_001',
      act: ({ repo }) => library(withEnv(repo, { OFFSHOOT_WORKSPACE_BASE: 'a.txt' })).start({ task: 'T2' }),
      message: /a\.txt is not a folder/,
      hint: /workspace\.base/,
      path: ({ repo }) => path.join(repo.dir, 'a.txt'),
    },
    {
      code: 'WT_002',
      act: ({ lib }) => lib.start({ task: 'T2', branch: 'offshoot/T1' }),
      message: /branch offshoot\/T1 is checked out in /,
      hint: /--branch NAME/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_003',
      act: ({ repo }) => library(repo, { flags: { limits: { perRepo: 1 } } }).start({ task: 'T2' }),
      message: /has 1 open task; limits\.perRepo is 1/,
      hint: /offshoot prune --dry-run/,
    },
    {
      code: 'WT_004',
      act: ({ lib, task }) => {
        writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
        return lib.remove({ task: 'T1' })
      },
      message: /T1 has 1 file that no commit and no step holds/,
      hint: /offshoot checkpoint T1 .*--force/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_005',
      act: ({ lib }) => lib.remove({ path: '/nowhere' }),
      message: /no workspace \/nowhere/,
      hint: /offshoot list --all/,
      path: () => '/nowhere',
    },
    {
      code: 'WT_006',
      act: ({ lib }) => lib.start({ task: '../T2' }),
      message: /"\.\.\/T2" would leave the base folder/,
      hint: /plain name/,
    },
    {
      code: 'WT_007',
      act: ({ lib }) => lib.remove({ task: 'T9' }),
      message: /no task T9/,
      hint: /offshoot list/,
    },
    {
      code: 'WT_008',
      act: ({ repo, task }) => {
        const held = (files: FileSystem): FileSystem => ({
          ...files,
          async rename(from, to) {
            if (from !== task.path) return files.rename(from, to)
            throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' })
          },
        })
        return library(repo, { around: { files: held } }).remove({ task: 'T1' })
      },
      message: /folder cannot be moved: EBUSY/,
      hint: /what holds it/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_013',
      act: ({ lib }) => lib.start({ task: 'T1', branch: 'other' }),
      message: /T1 is open already, on branch offshoot\/T1/,
      hint: /another id, or leave the branch out/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_013',
      act: ({ lib }) => lib.start({ task: 't1' }),
      message: /T1 differs from t1 in upper and lower case only/,
      hint: /another id/,
      path: ({ task }) => task.path,
    },
  ]
  test.each(rows)(
    'AC-011, NFR-015: $code says what is wrong, what to do, and which path it is about',
    async (row) => {
      const repo = testRepo()
      const lib = library(repo)
      const started = { repo, lib, task: (await lib.start({ task: 'T1' })).task }
      const error = await refused(row.act(started), row.code)
      expect(error.message).toMatch(row.message)
      expect(error.hint).toMatch(row.hint)
      if (row.path) expect(error.path).toBe(row.path(started))
    },
  )
  test('AC-011, NFR-015: the command says the same on stderr, and its exit code is that of the kind', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    const { code, stdout, stderr } = await offshoot(repo, 'worktree', 'remove', '--task', 'T1')
    expect([code, stdout, stderr.split('\n')]).toEqual([
      5,
      '',
      [
        'error WT_004: The workspace of T1 has 1 file that no commit and no step holds.',
        `  path: ${task.path}`,
        '  changed: new.txt',
        '  hint: offshoot checkpoint T1 keeps them; with --force the folder goes into the trash as it is.',
        '',
      ],
    ])
    expect(existsSync(task.path)).toBe(true)
  })
})
