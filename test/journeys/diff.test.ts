import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Outcome, offshoot, testRepo, type TestRepo } from '../support/repo.ts'

/** A task with one step, which changed `a.txt`, and work that is no step yet. */
async function begun(repo: TestRepo, ...options: string[]) {
  const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json', ...options)).json.task
  const at = (name: string) => path.join(folder, name)
  writeFileSync(at('a.txt'), 'two\n')
  await offshoot(repo, 'checkpoint', 'T1')
  writeFileSync(at('a.txt'), 'three\n')
  writeFileSync(at('x.txt'), 'x\n')
  return { folder: folder as string, at }
}

const names = ({ json }: Outcome, field: string): unknown =>
  json[field].map(({ path: name, status }: { path: string; status: string }) => [name, status])

test('K15: diff has what is no step yet, and says which files these are; --step leaves them out', async () => {
  const repo = testRepo()
  await begun(repo)
  const whole = await offshoot(repo, 'diff', 'T1')
  expect(whole.stdout).toMatch(/^\+three$[\s\S]*^\+x$/m)
  expect(whole.stdout).not.toContain('+two')
  expect(whole.stderr).toBe('not a step yet: 2 files (~ a.txt, + x.txt)\n')
  const json = await offshoot(repo, 'diff', 'T1', '--json')
  expect(json.json).toMatchObject({ from: 0, to: 1, insertions: 2, deletions: 1 })
  expect(names(json, 'noStep')).toEqual([
    ['a.txt', 'modified'],
    ['x.txt', 'added'],
  ])
  expect(json.json.files).toEqual([
    { path: 'a.txt', status: 'modified', insertions: 1, deletions: 1 },
    { path: 'x.txt', status: 'added', insertions: 1, deletions: 0 },
  ])
  const step = await offshoot(repo, 'diff', 'T1', '--step', '1')
  expect(step).toMatchObject({ stdout: expect.stringContaining('+two'), stderr: '' })
  expect(step.stdout).not.toContain('x.txt')
  expect((await offshoot(repo, 'diff', 'T1', '--step', '1', '--json')).json).not.toHaveProperty('noStep')
  expect((await offshoot(repo, 'diff', 'T1', '--stat')).stdout).toContain('2 files changed')
})

test('K15: log of a task without steps says where to see what is no step yet', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 'T1')
  const told = await offshoot(repo, 'log', 'T1')
  expect(told).toMatchObject({ code: 0, stdout: '' })
  expect(told.stderr).toBe('T1 has no steps yet. offshoot diff T1 shows the workspace as it is.\n')
})

test('K15: a hunk that is no step yet has the id by which accept lands it', async () => {
  const repo = testRepo()
  await begun(repo)
  const { stdout } = await offshoot(repo, 'diff', 'T1', '--hunks')
  const [line = ''] = stdout.split('\n').filter((one) => one.includes('x.txt'))
  const list = path.join(repo.home, 'chosen')
  writeFileSync(list, `${line}\n`)
  expect(await offshoot(repo, 'accept', 'T1', '--hunks', list)).toMatchObject({ code: 0 })
  expect(repo.git('status', '--porcelain')).toBe('?? x.txt\n')
})

test('K15: looking takes no step and changes neither a file nor an index', async () => {
  for (const isolation of ['worktree', 'clone', 'branch']) {
    const repo = testRepo()
    const { folder } = await begun(repo, '--isolation', isolation)
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: folder, env: repo.env, encoding: 'utf8' })
    const index = path.resolve(folder, git('rev-parse', '--git-path', 'index').trim())
    const state = () => {
      const { mtimeMs, ino } = statSync(index)
      const files = ['a.txt', 'x.txt'].map((name) => statSync(path.join(folder, name)).mtimeMs)
      return [readFileSync(index), mtimeMs, ino, git('rev-parse', 'HEAD'), files]
    }
    const before = state()
    await offshoot(repo, 'diff', 'T1')
    await offshoot(repo, 'show', 'T1')
    expect(state()).toEqual(before)
    expect((await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints).toHaveLength(1)
  }
})

test('K15: without a workspace that can be read, diff shows the steps and says why', async () => {
  const repo = testRepo()
  const { folder } = await begun(repo)
  renameSync(folder, `${folder}.away`)
  expect((await offshoot(repo, 'diff', 'T1')).stdout).toContain('+two')
  renameSync(`${folder}.away`, folder)
  const moved = `${folder}-moved`
  repo.git('worktree', 'move', folder, moved)
  mkdirSync(folder)
  const shown = await offshoot(repo, 'diff', 'T1')
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('+two') })
  expect(shown.stderr).toBe(`Only the steps: The workspace of T1 was moved to ${moved}.\n`)
  const shadow = testRepo()
  await begun(shadow, '--isolation', 'branch')
  shadow.git('stash', '--all', '--quiet')
  shadow.git('switch', '--quiet', 'main')
  const away = await offshoot(shadow, 'diff', 'T1')
  expect(away.stderr).toMatch(/^Only the steps: .* is on main, not on /)
  expect(away.stdout).toContain('+two')
})

test('K15: a binary file is a line that it differs, and with --binary a patch that git applies', async () => {
  const repo = testRepo({ 'i.bin': 'a\0b' })
  const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 251))
  writeFileSync(path.join(folder, 'i.bin'), bytes)
  const plain = await offshoot(repo, 'diff', 'T1')
  expect(plain.stdout).toContain('Binary files a/i.bin and b/i.bin differ')
  expect(plain.stdout.length).toBeLessThan(500)
  expect((await offshoot(repo, 'diff', 'T1', '--json')).json).toMatchObject({
    files: [{ path: 'i.bin', insertions: null, deletions: null }],
    insertions: 0,
  })
  const patch = path.join(repo.home, 'patch')
  writeFileSync(patch, (await offshoot(repo, 'diff', 'T1', '--binary')).stdout)
  repo.git('apply', patch)
  expect(readFileSync(path.join(repo.dir, 'i.bin'))).toEqual(bytes)
  expect(await offshoot(repo, 'diff', 'T1', '--binary', '--stat')).toMatchObject({ code: 2 })
})

test('K15: a large file is a line, whatever is in it, and takes no memory', async () => {
  const repo = testRepo()
  const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
  writeFileSync(path.join(folder, 'big.txt'), 'a line of text\n'.repeat(2_000_000))
  const { stdout } = await offshoot(repo, 'diff', 'T1')
  expect(stdout).toMatch(/^Binary files \/dev\/null and b\/big\.txt differ$/m)
  expect(stdout.length).toBeLessThan(500)
})

test('K15: log tells the files of a step in the order in which checkpoint told them', async () => {
  const repo = testRepo({ 'b/z': '', 'b/a': '', m: '' })
  const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
  for (const name of ['b/new', 'b/z', 'a', 'z']) writeFileSync(path.join(folder, name), 'new\n')
  rmSync(path.join(folder, 'm'))
  const taken = (await offshoot(repo, 'checkpoint', 'T1', '--json')).json.checkpoint.files
  const [logged] = (await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints
  expect(logged.files).toEqual(taken)
})
