import { describe, expect, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { library } from '../support/workspace.ts'

interface Row {
  readonly task: { readonly id: string; readonly state: string; readonly base: { readonly commit: string } }
  readonly files: readonly string[]
  readonly shared: readonly string[]
  readonly check?: boolean
}

describe('G1: best of several', () => {
  test('G1: one prompt for several agents makes sibling tasks from the same base, checked and compared', async () => {
    const repo = withStandIn(testRepo())
    // The second one to come finds the mark of the first.
    const prompt = play(
      { sh: `mkdir '${repo.home}/first' && echo good > good.txt || echo bad > bad.txt` },
      { write: 'both.txt' },
    )
    const flags = ['--task', 'T', '--agents', 'claude,claude', '--check', 'test -e good.txt', '--json']
    const { code, json } = await offshoot(repo, 'run', ...flags, prompt)
    expect(code).toBe(0)
    const rows = json.tasks as Row[]
    expect(rows.map(({ task }) => task.id)).toEqual(['T-1', 'T-2'])
    expect(new Set(rows.map(({ task }) => task.base.commit)).size).toBe(1)
    expect(new Set(rows.map(({ check }) => check))).toEqual(new Set([false, true]))
    expect(rows.map(({ shared }) => shared)).toEqual([['both.txt'], ['both.txt']])
    expect(rows.flatMap(({ files }) => files).sort()).toEqual(['bad.txt', 'both.txt', 'both.txt', 'good.txt'])
  })

  test('G1: compare shows tasks that are there, and what lies between two of them', async () => {
    const repo = withStandIn(testRepo())
    for (const task of ['T1', 'T2'])
      await offshoot(repo, 'run', '--task', task, play({ sh: `echo ${task} > a.txt` }))
    const { stdout } = await offshoot(repo, 'compare', 'T1', 'T2', '--diff')
    expect(stdout).toMatch(/^TASK +STATE .*\nT1 +completed .* a\.txt\nT2 +completed /)
    expect(stdout).toMatch(/\n-T1\n\+T2\n/)
    const { tasks, diff } = await library(repo).compare({ tasks: ['T1', 'T2'], diff: true })
    expect(tasks.map(({ files, shared }) => [files, shared])).toEqual([
      [['a.txt'], ['a.txt']],
      [['a.txt'], ['a.txt']],
    ])
    expect(diff).toContain('\n-T1\n+T2\n')
    expect((await offshoot(repo, 'compare', 'T1', 'T1')).code).toBe(2)
    expect((await offshoot(repo, 'compare', 'T1', 'nope')).code).toBe(3)
  })
})
