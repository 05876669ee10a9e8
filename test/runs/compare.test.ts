import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
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
    expect(stdout).toMatch(/^TASK +AGENT +STATE .*\nT1 +claude +completed .* a\.txt\nT2 +claude +completed /)
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

  const both = ['--task', 'T', '--times', '2']
  const states = async (repo: TestRepo) =>
    (await library(repo).list({ all: true })).map(({ id, state }) => `${id} ${state}`).sort()

  test('G1: accepting one tells how to reject the others, and rejects none by itself', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'run', ...both, play({ write: 'x.txt' }))
    await offshoot(repo, 'run', '--task', 'other', play({ write: 'x.txt' }))
    expect(
      (await offshoot(repo, 'accept', 'T-1', '--only', 'none', '--dry-run', '--json')).json,
    ).not.toHaveProperty('siblings')
    const { stdout } = await offshoot(repo, 'accept', 'T-1')
    expect(stdout).toContain('offshoot reject T-2')
    expect(stdout).not.toContain('offshoot reject other')
    expect(await states(repo)).toEqual(['T-1 accepted', 'T-2 completed', 'other completed'])
    expect((await offshoot(repo, 'accept', 'T-2', '--json')).json).not.toHaveProperty('siblings')
  })

  test.skipIf(!existsSync('/usr/bin/script'))(
    'G1: at a terminal it asks, and a yes rejects the others',
    async () => {
      const repo = withStandIn(testRepo())
      await offshoot(repo, 'run', ...both, play({ write: 'x.txt' }))
      const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
      const command = `'${process.execPath}' '${bin}' accept T-2`
      const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
        cwd: repo.dir,
        env: { ...repo.env, TERM: 'xterm' },
        input: 'y\n',
        encoding: 'utf8',
      })
      expect(stdout).toContain('Rejected T-1')
      expect(await states(repo)).toEqual(['T-1 rejected', 'T-2 accepted'])
    },
  )
})
