/**
 * A worktree for each task, under the ids by which it was asked for: what a worktree costs. How many seconds it takes is
 * measured by `npm run bench`; here only that it is no more work than it must be. AC-012 is `npm run coverage`.
 */
import { describe, expect, test } from 'vitest'
import type { ComposeOptions } from '../../../src/compose/full.ts'
import { testRepo } from '../../support/repo.ts'
import { library } from '../../support/workspace.ts'

describe('what a worktree costs', () => {
  test('NFR-001, NFR-002: to make and to remove one takes few calls of git, and no more for many files', async () => {
    const calls = async (files: number) => {
      const many = Array.from({ length: files }, (_, n) => [`f${n}.txt`, `${n}\n`])
      let count = 0
      const around: ComposeOptions['around'] = { exec: (exec) => (call) => (count++, exec(call)) }
      const lib = library(testRepo(Object.fromEntries(many)), { around })
      await lib.start({ task: 'first' })
      const counted = async (verb: Promise<unknown>) => {
        const before = count
        await verb
        return count - before
      }
      return {
        start: await counted(lib.start({ task: 'T1' })),
        remove: await counted(lib.remove({ task: 'T1' })),
      }
    }
    const few = await calls(1)
    expect(await calls(500)).toEqual(few)
    expect(few.start).toBeLessThanOrEqual(5)
    expect(few.remove).toBeLessThanOrEqual(8)
  })

  test('NFR-005: each one more takes less than 10 MB of memory', async () => {
    const repo = testRepo()
    const lib = library(repo, { env: { ...repo.env, OFFSHOOT_LIMITS_PER_REPO: '50' } })
    const start = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await lib.start({ task: `T${n}` })
      return process.memoryUsage().rss
    }
    const few = await start(0, 5)
    expect((await start(5, 15)) - few).toBeLessThan(10 * 10 * 1024 * 1024)
  })
})
