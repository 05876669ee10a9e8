import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const terabyte = 1024 ** 4

async function started(isolation: 'worktree' | 'clone' = 'worktree') {
  const repo = testRepo({ 'a.txt': 'one\n' })
  const { json } = await offshoot(repo, 'start', 'T1', '--isolation', isolation, '--json')
  return { repo, workspace: inFolder(repo, json.task.path as string) }
}

/** The answer of a command, and the seconds it took. */
async function timed(repo: TestRepo, ...args: string[]) {
  const begun = performance.now()
  const outcome = await offshoot(repo, ...args, '--json')
  return { ...outcome, seconds: (performance.now() - begun) / 1000 }
}

describe('a file of a terabyte without data', () => {
  const skipped = [{ path: 'sparse.bin', why: 'larger than 4 GiB' }]

  async function withSparse() {
    const { repo, workspace } = await started()
    writeFileSync(path.join(workspace.dir, 'sparse.bin'), '')
    truncateSync(path.join(workspace.dir, 'sparse.bin'), terabyte)
    return { repo, workspace }
  }

  test('M5: checkpoint names it within seconds, with a step and without', async () => {
    const { repo, workspace } = await withSparse()
    const none = await timed(repo, 'checkpoint', 'T1')
    expect(none.json).toMatchObject({ ok: true, created: false, checkpoint: { skipped } })
    workspace.write('a.txt', 'two\n')
    const step = await timed(repo, 'checkpoint', 'T1')
    expect(step.json).toMatchObject({
      ok: true,
      created: true,
      checkpoint: { skipped, files: [{ path: 'a.txt' }] },
    })
    expect(Math.max(none.seconds, step.seconds)).toBeLessThan(10)
  })

  test('M5: accept lands the rest, and names it', async () => {
    const { repo, workspace } = await withSparse()
    workspace.write('a.txt', 'two\n')
    const landed = await timed(repo, 'accept', 'T1')
    expect(landed.json).toMatchObject({ ok: true, accepted: { files: [{ path: 'a.txt' }] }, skipped })
    expect(landed.seconds).toBeLessThan(10)
  })

  test('M5: reject names it, and undo brings it back', async () => {
    const { repo, workspace } = await withSparse()
    const rejected = await timed(repo, 'reject', 'T1')
    expect(rejected.json).toMatchObject({ ok: true, task: { state: 'rejected' }, skipped })
    expect(rejected.seconds).toBeLessThan(10)
    expect((await offshoot(repo, 'undo', '--json')).json).toMatchObject({ ok: true })
    const size = execFileSync('stat', ['-c', '%s', path.join(workspace.dir, 'sparse.bin')], {
      encoding: 'utf8',
    })
    expect(Number(size)).toBe(terabyte)
  })

  test('M5: a tracked file that grew to it keeps its last content in the steps', async () => {
    const { repo, workspace } = await started()
    truncateSync(path.join(workspace.dir, 'a.txt'), terabyte)
    const taken = await timed(repo, 'checkpoint', 'T1')
    expect(taken.json).toMatchObject({ created: false, checkpoint: { skipped: [{ path: 'a.txt' }] } })
  })
})

describe('a pipe in the git folder of a clone', () => {
  test.each([
    'objects/pack/multi-pack-index',
    'objects/info/commit-graph',
    'objects/ab/cdef',
    'HEAD',
    'index',
    'config',
    'packed-refs',
    'refs/heads/offshoot/T1',
    'info/exclude',
  ])('M5: at %s it holds neither checkpoint nor reject', async (name) => {
    const { repo, workspace } = await started('clone')
    workspace.write('a.txt', 'two\n')
    workspace.git('commit', '--quiet', '--all', '--message=own')
    workspace.write('a.txt', 'three\n')
    const pipe = path.join(workspace.dir, '.git', name)
    mkdirSync(path.dirname(pipe), { recursive: true })
    rmSync(pipe, { force: true })
    execFileSync('mkfifo', [pipe])
    const taken = await timed(repo, 'checkpoint', 'T1')
    expect(taken.json).toMatchObject({ ok: true, created: true })
    const rejected = await timed(repo, 'reject', 'T1')
    expect(rejected.json).toMatchObject({ ok: true })
    expect(Math.max(taken.seconds, rejected.seconds)).toBeLessThan(30)
  })
})

describe('a pipe among the objects of the user, below a worktree', () => {
  test('M5: at objects/pack/multi-pack-index it holds neither checkpoint nor reject', async () => {
    const { repo, workspace } = await started()
    workspace.write('a.txt', 'two\n')
    workspace.git('commit', '--quiet', '--all', '--message=own')
    workspace.write('a.txt', 'three\n')
    execFileSync('mkfifo', [path.join(repo.dir, '.git/objects/pack/multi-pack-index')])
    const taken = await timed(repo, 'checkpoint', 'T1')
    expect(taken.json).toMatchObject({ ok: true, created: true })
    const rejected = await timed(repo, 'reject', 'T1')
    expect(rejected.json).toMatchObject({ ok: true })
    expect(Math.max(taken.seconds, rejected.seconds)).toBeLessThan(30)
  })
})

describe('a commit of a few objects and a hundred million paths', () => {
  function plantBomb(workspace: TestRepo): void {
    const blob = workspace.git('rev-parse', 'HEAD:a.txt').trim()
    const tree = (entries: string) =>
      execFileSync('git', ['mktree'], {
        cwd: workspace.dir,
        env: workspace.env,
        input: entries,
        encoding: 'utf8',
      }).trim()
    const ten = (entry: (name: number) => string) =>
      Array.from({ length: 10 }, (_, at) => `${entry(at)}\n`).join('')
    let top = tree(ten((at) => `100644 blob ${blob}\tf${at}`))
    for (let level = 0; level < 7; level++) top = tree(ten((at) => `040000 tree ${top}\td${at}`))
    const commit = workspace.git('commit-tree', '-p', 'HEAD', '-m', 'bomb', top).trim()
    workspace.git('update-ref', 'refs/heads/offshoot/T1', commit)
  }

  test('M5: show answers that it does not know whether it has landed, and reject works', async () => {
    const { repo, workspace } = await started()
    plantBomb(workspace)
    const shown = await timed(repo, 'show', 'T1')
    expect(shown.json).toMatchObject({ ok: true, task: { landed: null } })
    expect(shown.seconds).toBeLessThan(25)
    const rejected = await timed(repo, 'reject', 'T1')
    expect(rejected.json).toMatchObject({ ok: true })
    expect(rejected.seconds).toBeLessThan(25)
  })

  test('M5: a git that looks for it ends by itself when its caller was killed', async () => {
    const { repo, workspace } = await started()
    plantBomb(workspace)
    const child = spawn(process.execPath, [bin, 'show', 'T1'], {
      cwd: repo.dir,
      env: repo.env,
      stdio: 'ignore',
    })
    await expect.poll(() => gitsIn(repo), { timeout: 20_000 }).not.toHaveLength(0)
    child.kill('SIGKILL')
    await expect.poll(() => gitsIn(repo), { timeout: 30_000 }).toHaveLength(0)
  })
})

/** The processes of git that look into the repository. */
function gitsIn({ dir }: TestRepo): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words[1] === 'cherry' && readlinkSync(`/proc/${pid}/cwd`) === path.join(dir, '.git')
    } catch {
      return false
    }
  })
}
