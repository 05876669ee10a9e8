import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, commitFile, inFolder, library, linkedWorktrees, ownRefs } from '../support/workspace.ts'

const files = { 'a.txt': 'one\n', '.gitignore': '*.log\nnode_modules/\n' }

async function started(repo = testRepo(files), id = 'T1') {
  const work = library(repo)
  const { task } = await work.start({ task: id })
  return { repo, work, task, workspace: inFolder(repo, task.path) }
}

/** Throws away what only reflogs and age still hold. */
function collect(repo: TestRepo): void {
  repo.git('reflog', 'expire', '--expire=now', '--all')
  repo.git('gc', '--quiet', '--prune=now')
}

function expectGone(repo: TestRepo, task: { path: string; branch: string }): void {
  expect(existsSync(task.path)).toBe(false)
  expect(linkedWorktrees(repo)).toEqual([])
  expect(branches(repo)).not.toContain(task.branch)
  expect(existsSync(path.join(repo.dir, '.git/worktrees'))).toBe(false)
  expect(ownRefs(repo).filter((ref) => ref.startsWith('refs/offshoot/base/'))).toEqual([])
}

test('R2: a removed task leaves no branch, no folder, no registration; again answers removed:false', async () => {
  const { repo, task } = await started()
  const first = await offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.json).toMatchObject({
    ok: true,
    removed: true,
    branchKept: false,
    task: { id: 'T1', state: 'rejected' },
  })
  expectGone(repo, task)
  const again = await offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')
  expect(again).toMatchObject({ code: 0, json: { ok: true, removed: false } })
})

test('R2: a task that never was is not found', async () => {
  const { repo } = await started()
  const untouched = fingerprint(repo)
  for (const [args, code] of [
    [['--task', 'nope'], 'WT_007'],
    [['nope'], 'WT_005'],
    [['--path', 'nope'], 'WT_005'],
    [['--path', '.'], 'WT_005'],
  ] as const) {
    const { code: exit, json } = await offshoot(repo, 'worktree', 'remove', ...args, '--json')
    expect({ args, exit, code: json.error.code }).toEqual({ args, exit: 3, code })
  }
  expect(fingerprint(repo)).toEqual(untouched)
  expect(linkedWorktrees(repo)).toHaveLength(1)
})

test('R2: a dirty workspace is refused, with the files named, and stays as it is', async () => {
  const { repo, task, workspace } = await started()
  workspace.write('a.txt', 'changed\n')
  workspace.write('new folder/new.txt', 'untracked\n')
  workspace.write('staged.txt', 'staged\n')
  workspace.git('add', 'staged.txt')
  workspace.write('run.log', 'ignored\n')
  const before = fingerprint(workspace)
  const { code, json } = await offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')
  expect(code).toBe(5)
  expect(json.error).toMatchObject({ code: 'WT_004', path: task.path, data: { ignored: ['run.log'] } })
  expect(new Set(json.error.data.changed)).toEqual(new Set(['a.txt', 'new folder/new.txt', 'staged.txt']))
  expect(fingerprint(workspace)).toEqual(before)
  expect(linkedWorktrees(repo)).toHaveLength(1)
})

test('R2: for a person, the refusal names the files', async () => {
  const { repo, workspace } = await started()
  workspace.write('new.txt', 'untracked\n')
  const { stderr, stdout } = await offshoot(repo, 'worktree', 'remove', '--task', 'T1')
  expect(stdout).toBe('')
  expect(stderr).toContain('error WT_004')
  expect(stderr).toContain('new.txt')
  expect(stderr).toContain('--force')
})

test('R2: ignored files alone do not stop it, but are named', async () => {
  const { repo, task, workspace } = await started()
  workspace.write('run.log', 'ignored\n')
  workspace.write('node_modules/x/index.js', 'ignored\n')
  const { code, stderr, stdout } = await offshoot(repo, 'worktree', 'remove', 'T1')
  expect(code).toBe(0)
  expect(stderr).toContain('run.log')
  expect(stderr).toContain('node_modules/')
  expect(stdout).toContain('trash: ')
  expectGone(repo, task)
})

test('R2: --force takes a dirty workspace into the trash byte for byte', async () => {
  const { repo, work, task, workspace } = await started()
  workspace.write('a.txt', 'changed\n')
  workspace.write('new.txt', 'untracked\n')
  workspace.write('node_modules/x/index.js', 'ignored\n')
  workspace.write('run.sh', '#!/bin/sh\n')
  chmodSync(path.join(task.path, 'run.sh'), 0o755)
  workspace.write('bytes.bin', Buffer.from([0, 255, 10, 13, 0]))
  symlinkSync('/nowhere/at all', path.join(task.path, 'link'))
  mkdirSync(path.join(task.path, 'empty'))
  const removed = await work.remove({ task: 'T1', force: true })
  expect(removed).toMatchObject({ removed: true, ignored: ['node_modules/'] })
  expectGone(repo, task)
  const kept = (name: string) => path.join(removed.trash ?? '', 'workspace', name)
  expect(readFileSync(kept('a.txt'), 'utf8')).toBe('changed\n')
  expect(readFileSync(kept('new.txt'), 'utf8')).toBe('untracked\n')
  expect(readFileSync(kept('node_modules/x/index.js'), 'utf8')).toBe('ignored\n')
  expect(statSync(kept('run.sh')).mode & 0o777).toBe(0o755)
  expect([...readFileSync(kept('bytes.bin'))]).toEqual([0, 255, 10, 13, 0])
  expect(readlinkSync(kept('link'))).toBe('/nowhere/at all')
  expect(statSync(kept('empty')).isDirectory()).toBe(true)
})

test('R1: the agent’s commits can be reached after the branch is gone and git has collected', async () => {
  const { repo, work, workspace } = await started()
  const tip = commitFile(workspace, 'agent.txt', 'work\n')
  await work.remove({ task: 'T1' })
  collect(repo)
  const kept = ownRefs(repo).filter((ref) => ref.startsWith('refs/offshoot/trash/'))
  expect(kept.map((ref) => repo.git('rev-parse', ref).trim())).toEqual([tip])
  expect(repo.git('show', `${tip}:agent.txt`)).toBe('work\n')
})

test('R2: a HEAD that names nothing does not stop it', async () => {
  const { repo, work, task } = await started()
  const registration = path.join('.git/worktrees', path.basename(task.path))
  repo.write(path.join(registration, 'HEAD'), `${'1'.repeat(40)}\n`)
  expect(await work.remove({ task: 'T1', force: true })).toMatchObject({ removed: true })
  expectGone(repo, task)
})

test.each([false, true])(
  'R1: commits on a detached HEAD of the workspace stay, too (keepBranch: %s)',
  async (keepBranch) => {
    const { repo, work, workspace } = await started()
    workspace.git('switch', '--quiet', '--detach')
    const tip = commitFile(workspace, 'agent.txt', 'work\n')
    await work.remove({ task: 'T1', keepBranch })
    collect(repo)
    expect(repo.git('show', `${tip}:agent.txt`)).toBe('work\n')
  },
)

describe('the branch', () => {
  test('R2: --keep-branch keeps it', async () => {
    const { repo, workspace } = await started()
    const tip = commitFile(workspace, 'agent.txt', 'work\n')
    const { code, json } = await offshoot(
      repo,
      'worktree',
      'remove',
      '--task',
      'T1',
      '--keep-branch',
      '--json',
    )
    expect({ code, ...json }).toMatchObject({
      code: 0,
      removed: true,
      branchKept: true,
      task: { state: 'kept' },
    })
    expect(repo.git('rev-parse', 'offshoot/T1').trim()).toBe(tip)
    expect(linkedWorktrees(repo)).toEqual([])
  })

  test('R2: --delete-branch deletes it, packed or not', async () => {
    const { repo, task } = await started()
    repo.git('pack-refs', '--all')
    const { code, json } = await offshoot(
      repo,
      'worktree',
      'remove',
      '--task',
      'T1',
      '--delete-branch',
      '--json',
    )
    expect({ code, ...json }).toMatchObject({ code: 0, removed: true, branchKept: false })
    expectGone(repo, task)
  })

  test('R2: both at once is wrong usage', async () => {
    const { repo } = await started()
    const both = ['--keep-branch', '--delete-branch']
    const { code, json } = await offshoot(repo, 'worktree', 'remove', '--task', 'T1', ...both, '--json')
    expect({ code, error: json.error.code }).toEqual({ code: 2, error: 'WT_019' })
    expect(linkedWorktrees(repo)).toHaveLength(1)
  })

  test('L5: an adopted one is never deleted', async () => {
    const repo = testRepo()
    repo.git('branch', 'mine')
    const work = library(repo)
    const { task } = await work.start({ task: 'T1', existingBranch: 'mine' })
    const tip = commitFile(inFolder(repo, task.path), 'agent.txt', 'work\n')
    expect(await work.remove({ task: 'T1' })).toMatchObject({ removed: true, branchKept: true })
    expect(repo.git('rev-parse', 'mine').trim()).toBe(tip)
  })

  test('R2: one that the user has checked out in the meantime stays', async () => {
    const { repo, work, workspace } = await started()
    const tip = commitFile(workspace, 'agent.txt', 'work\n')
    workspace.git('switch', '--quiet', '--detach')
    repo.git('switch', '--quiet', 'offshoot/T1')
    expect(await work.remove({ task: 'T1' })).toMatchObject({ removed: true, branchKept: true })
    expect(repo.git('rev-parse', 'offshoot/T1', 'HEAD').trim()).toBe(`${tip}\n${tip}`)
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('R2: one that is gone already does not stop it', async () => {
    const { repo, work, task, workspace } = await started()
    workspace.git('switch', '--quiet', '--detach')
    repo.git('branch', '--quiet', '-D', 'offshoot/T1')
    expect(await work.remove({ task: 'T1' })).toMatchObject({ removed: true })
    expectGone(repo, task)
  })
})

describe('by name and by path', () => {
  test.each([
    ['the folder’s name', (folder: string) => [path.basename(folder)]],
    ['the task’s id as NAME', () => ['T1']],
    ['an absolute path', (folder: string) => ['--path', folder]],
    [
      'a relative path',
      (folder: string) => ['--path', path.join('../state', folder.split('/state/')[1] ?? '')],
    ],
    ['a path with a slash at its end', (folder: string) => ['--path', `${folder}/`]],
  ])('R2: %s will do', async (_, name) => {
    const { repo, task } = await started()
    const { code, json } = await offshoot(repo, 'worktree', 'remove', ...name(task.path), '--json')
    expect({ code, ...json }).toMatchObject({ code: 0, removed: true })
    expectGone(repo, task)
    const again = await offshoot(repo, 'worktree', 'remove', ...name(task.path), '--json')
    expect(again).toMatchObject({ code: 0, json: { removed: false } })
  })

  test('R2: a path through a symlink is the same path', async () => {
    const { repo, work, task } = await started()
    symlinkSync(path.join(repo.home, 'state'), path.join(repo.home, 'shortcut'))
    const detour = task.path.replace('/state/', '/shortcut/')
    expect(await work.remove({ path: detour })).toMatchObject({ removed: true })
    expectGone(repo, task)
  })

  test('R2: a workspace of another repository is not touched, nor a branch of this one', async () => {
    const here = await started()
    const other = testRepo(files, path.join(here.repo.home, 'second'))
    const there = await started({ ...other, env: here.repo.env })
    await expect(here.work.remove({ path: there.task.path, force: true })).rejects.toMatchObject({
      code: 'WT_005',
    })
    expect(branches(here.repo)).toContain('offshoot/T1')
    expect(linkedWorktrees(there.repo)).toHaveLength(1)
    expect(existsSync(path.join(there.task.path, 'a.txt'))).toBe(true)
    expect(await there.work.exists('T1')).toBe(true)
  })
})

test('R2: a workspace can be removed from inside', async () => {
  const { repo, task } = await started()
  const { code, json } = await offshoot(
    inFolder(repo, task.path),
    'worktree',
    'remove',
    '--task',
    'T1',
    '--json',
  )
  expect({ code, ...json }).toMatchObject({ code: 0, removed: true })
  expectGone(repo, task)
})

test('R2: a task whose folder the user deleted can be removed', async () => {
  const { repo, work, task } = await started()
  rmSync(task.path, { recursive: true })
  expect(await work.remove({ task: 'T1' })).toMatchObject({ removed: true })
  expectGone(repo, task)
})

test('R2: a workspace whose registration is gone is refused, and with --force goes into the trash', async () => {
  const { repo, work, task, workspace } = await started()
  workspace.write('new.txt', 'untracked\n')
  rmSync(path.join(repo.dir, '.git/worktrees'), { recursive: true })
  await expect(work.remove({ task: 'T1' })).rejects.toMatchObject({ name: 'AppError' })
  const removed = await work.remove({ task: 'T1', force: true })
  expect(readFileSync(path.join(removed.trash ?? '', 'workspace/new.txt'), 'utf8')).toBe('untracked\n')
  expectGone(repo, task)
})

test('R2: a workspace that the system does not let go is told, and goes as soon as it can', async ({
  skip,
}) => {
  const { repo, work, task } = await started()
  try {
    execFileSync('mount', ['--bind', task.path, task.path], { stdio: 'ignore' })
  } catch {
    skip('mount is not allowed here')
  }
  try {
    await expect(work.remove({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_008', path: task.path })
    expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
  } finally {
    execFileSync('umount', [task.path])
  }
  expect(await work.remove({ task: 'T1' })).toMatchObject({ removed: false })
  expectGone(repo, task)
})

test('R5: what came to no end is not forgotten by the verbs that come after it', async ({ skip }) => {
  const { repo, work, task, workspace } = await started()
  workspace.write('new.txt', 'new\n')
  const base = repo.git('rev-parse', 'main')
  try {
    execFileSync('mount', ['--bind', task.path, task.path], { stdio: 'ignore' })
  } catch {
    skip('mount is not allowed here')
  }
  try {
    await expect(work.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({ code: 'WT_008' })
    const halfDone = {
      code: 'WT_012',
      message: expect.stringMatching(/^The task T1 is half-done: operation by/),
    }
    for (const verb of [
      () => work.checkpoint({ task: 'T1' }),
      () => work.remove({ task: 'T1', force: true }),
      () => work.reject({ task: 'T1' }),
      () => work.start({ task: 'T1' }),
      () => work.run({ task: 'T1', create: false, command: ['true'] }),
    ])
      await expect(verb()).rejects.toMatchObject(halfDone)
  } finally {
    execFileSync('umount', [task.path])
  }
  expect(await work.recover()).toMatchObject([{ task: 'T1', verdict: 'finished' }])
  expect(repo.git('show', 'main:new.txt')).toBe('new\n')
  expect(await work.undo()).toMatchObject({ verb: 'accept', task: { state: 'active' } })
  expect(repo.git('rev-parse', 'main')).toBe(base)
})

describe('R1: while an agent is at work in it', () => {
  async function running() {
    const made = await started()
    const args = ['run', '--task', 'T1', '--', 'sh', '-c', 'echo work > work.txt; sleep 300']
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const { dir: cwd, env } = made.repo
    const child = spawn(process.execPath, [bin, ...args], { cwd, env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = new Promise((resolve) => child.once('close', resolve))
    await until(() => existsSync(path.join(made.task.path, 'work.txt')), 'the command has begun')
    return { ...made, ended }
  }

  test('a task is not removed; with --force its run is ended first, and its work is a step', async () => {
    const { repo, work, task, ended } = await running()
    const hint = expect.stringContaining('offshoot stop T1')
    await expect(work.remove({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_012', hint })
    expect(existsSync(task.path)).toBe(true)
    expect(await work.remove({ task: 'T1', force: true })).toMatchObject({ removed: true })
    await ended
    expectGone(repo, task)
    expect(await work.list()).toEqual([])
    await work.undo()
    expect(readFileSync(path.join(task.path, 'work.txt'), 'utf8')).toBe('work\n')
    expect(await work.log('T1')).toHaveLength(1)
  })

  test('nothing of it is undone', async () => {
    const { work, workspace, task } = await started()
    workspace.write('new.txt', 'new\n')
    await work.accept({ task: 'T1', as: 'squash', keep: true })
    await work.task('T1').run('agent', async () => {
      await expect(work.undo()).rejects.toMatchObject({ code: 'WT_012' })
    })
    expect(await work.undo()).toMatchObject({ verb: 'accept' })
    expect(existsSync(task.path)).toBe(true)
  })
})

test('R2: a removed task makes room for the next one, and its trash for its own', async () => {
  const repo = testRepo(files)
  const trashes = new Set<string | null>()
  for (let n = 0; n < 3; n++) {
    const { work, workspace } = await started(repo)
    workspace.write('n.txt', String(n))
    trashes.add((await work.remove({ task: 'T1', force: true })).trash)
  }
  expect(trashes.size).toBe(3)
  const kept = [...trashes].map((trash) => readFileSync(path.join(trash ?? '', 'workspace/n.txt'), 'utf8'))
  expect(kept).toEqual(['0', '1', '2'])
})
