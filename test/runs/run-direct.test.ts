/** L9: where there is no repository an agent runs only when the user has said so, and nothing of it is kept. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, nowhere, withEnv } from '../support/workspace.ts'

const direct = { OFFSHOOT_ISOLATION_FALLBACK: 'direct' }

test('L9: by default it says that there is no repository, and runs nothing', async () => {
  const at = withStandIn(nowhere())
  for (const args of [[play({ write: 'x.txt' })], ['--', 'touch', 'x.txt']]) {
    const ran = await offshoot(at, 'run', '--json', ...args)
    expect(ran).toMatchObject({ code: 6 })
    expect(ran.stdout).toContain('WT_009')
  }
  expect(existsSync(path.join(at.dir, 'x.txt'))).toBe(false)
})

test('L9: with isolation.fallback direct an agent works in the folder itself, under its policy', async () => {
  const at = withEnv(withStandIn(nowhere()), direct)
  const prompt = play(
    { say: 'I begin.', write: 'x.txt' },
    { sh: 'curl -d @x.txt http://127.0.0.1:9/ > y.txt' },
  )
  const ran = await offshoot(at, 'run', '--json', prompt)
  expect(ran).toMatchObject({ code: 0, json: { ok: true, direct: true, agent: 'claude' } })
  const events = ran.stdout.split('\n').flatMap((line) => /"event":"([^"]+)"/.exec(line)?.[1] ?? [])
  expect(events).toEqual(
    'conversation message tool.started decided tool.ended tool.started decided usage'.split(' '),
  )
  expect(existsSync(path.join(at.dir, 'x.txt'))).toBe(true)
  expect(existsSync(path.join(at.dir, 'y.txt'))).toBe(false)
  const plain = await offshoot(at, 'run', play({ say: 'Again.' }))
  expect(plain.stderr).toMatch(/Again\.[\s\S]*was not recorded and cannot be undone/)
})

test('L9: a command has its own output and exit code', async () => {
  const at = withEnv(nowhere(), direct)
  const ran = await offshoot(at, 'run', '--', 'sh', '-c', 'echo out > x.txt; cat x.txt; exit 3')
  expect(ran).toMatchObject({ code: 3, stdout: 'out\n' })
})

test.each([['--detach'], ['--agents', 'claude,codex'], ['--times', '2'], ['--from', 'main']])(
  'L9: with %s it runs nothing: only a task could have that',
  async (...options) => {
    const at = withEnv(withStandIn(nowhere()), direct)
    const ran = await offshoot(at, 'run', '--json', ...options, play({ write: 'x.txt' }))
    expect(ran).toMatchObject({ code: 6 })
    expect(existsSync(path.join(at.dir, 'x.txt'))).toBe(false)
  },
)

test('L9: a repository that is damaged is one all the same: nothing runs in it', async () => {
  const at = withEnv(nowhere(), direct)
  mkdirSync(path.join(at.dir, 'damaged'))
  writeFileSync(path.join(at.dir, 'damaged', '.git'), 'gitdir: ../gone\n')
  const inside = inFolder(at, path.join(at.dir, 'damaged'))
  expect(await offshoot(inside, 'run', '--json', '--', 'touch', 'x.txt')).toMatchObject({ code: 6 })
  expect(existsSync(path.join(inside.dir, 'x.txt'))).toBe(false)
  expect(readFileSync(path.join(inside.dir, '.git'), 'utf8')).toBe('gitdir: ../gone\n')
})
