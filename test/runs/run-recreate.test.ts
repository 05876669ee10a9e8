import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { readFolder, readTree, stepCommits, vaultDir } from '../support/vault.ts'
import { inFolder, library, linkedWorktrees } from '../support/workspace.ts'

type Library = ReturnType<typeof library>

const isolations = ['worktree', 'clone'] as const

/** A task with a step that has everything a step can have, and with a commit of the agent's own. */
async function worked(
  isolation: (typeof isolations)[number],
  repo = testRepo({ 'a.txt': 'one\n', 'dir/b.txt': 'two\n' }),
) {
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', isolation })
  const workspace = inFolder(repo, task.path)
  workspace.write('own.txt', 'committed by the agent\n')
  workspace.git('add', '--all')
  workspace.git('commit', '--quiet', '--message=Own')
  workspace.write('a.txt', 'changed\n')
  workspace.write('new/deep/c.bin', Buffer.from([0, 255, 13, 10]))
  workspace.write('run.sh', '#!/bin/sh\n')
  chmodSync(path.join(task.path, 'run.sh'), 0o755)
  symlinkSync('../nowhere', path.join(task.path, 'link'))
  rmSync(path.join(task.path, 'dir'), { recursive: true })
  await lib.checkpoint({ task: 'T1' })
  return { repo, lib, task, workspace, state: readFolder(task.path) }
}

/** All that is the user's, but for what a gc of theirs writes. */
function users(repo: TestRepo) {
  const { 'git/info/refs': _, ...rest } = fingerprint(repo)
  return rest
}

type Damage = (repo: TestRepo, workspace: TestRepo) => void

const registration = (repo: TestRepo, workspace: TestRepo) =>
  path.join(repo.dir, '.git/worktrees', path.basename(workspace.dir))

const damages: Record<string, Damage> = {
  'the folder deleted': (_, { dir }) => rmSync(dir, { recursive: true }),
  'the folder emptied': (_, { dir }) => {
    for (const name of readdirSync(dir)) rmSync(path.join(dir, name), { recursive: true })
  },
  'a file in the place of the folder': (_, { dir }) => {
    rmSync(dir, { recursive: true })
    writeFileSync(dir, 'in the way')
  },
  'a link in the place of the folder': (_, { dir }) => {
    rmSync(dir, { recursive: true })
    symlinkSync('/etc', dir)
  },
  '.git deleted': (_, { dir }) => rmSync(path.join(dir, '.git'), { recursive: true }),
  '.git emptied': (_, { dir }) => {
    rmSync(path.join(dir, '.git'), { recursive: true })
    writeFileSync(path.join(dir, '.git'), '')
  },
  '.git pointing at another repository': (_, { dir }) => {
    const other = testRepo()
    rmSync(path.join(dir, '.git'), { recursive: true })
    writeFileSync(path.join(dir, '.git'), `gitdir: ${other.dir}/.git\n`)
  },
  '.git made anew by git init': (_, workspace) => {
    rmSync(path.join(workspace.dir, '.git'), { recursive: true })
    workspace.git('init', '--quiet')
    workspace.git('commit', '--quiet', '--allow-empty', '--message=Anew')
  },
  '.git a pipe': (_, { dir }) => {
    rmSync(path.join(dir, '.git'), { recursive: true })
    execFileSync('mkfifo', [path.join(dir, '.git')])
  },
}

const worktreeOnly: Record<string, Damage> = {
  'the registration deleted': (repo, workspace) => rmSync(registration(repo, workspace), { recursive: true }),
  'the registration without HEAD': (repo, workspace) =>
    rmSync(path.join(registration(repo, workspace), 'HEAD')),
  'the registration with a broken HEAD': (repo, workspace) =>
    writeFileSync(path.join(registration(repo, workspace), 'HEAD'), 'nonsense\n'),
  'the registration pointing elsewhere': (repo, workspace) =>
    writeFileSync(path.join(registration(repo, workspace), 'gitdir'), '/nowhere/.git\n'),
  'the registration without its way back': (repo, workspace) =>
    rmSync(path.join(registration(repo, workspace), 'commondir')),
  'folder and registration deleted': (repo, workspace) => {
    rmSync(workspace.dir, { recursive: true })
    repo.git('worktree', 'prune')
  },
  'folder, registration and branch deleted, and collected': (repo, workspace) => {
    rmSync(workspace.dir, { recursive: true })
    repo.git('worktree', 'prune')
    repo.git('branch', '--delete', '--force', 'offshoot/T1')
    repo.git('reflog', 'expire', '--expire=now', '--all')
    repo.git('gc', '--quiet', '--prune=now')
  },
}

const verbs: Record<string, (lib: ReturnType<typeof library>) => Promise<unknown>> = {
  start: (lib) => lib.start({ task: 'T1' }),
  run: (lib) => lib.run({ task: 'T1', create: false, command: ['true'] }, { onEvent: () => {} }),
  repair: (lib) => lib.repair('T1'),
}

const all = isolations.flatMap((isolation) =>
  Object.entries({ ...damages, ...(isolation === 'worktree' ? worktreeOnly : {}) }).map(
    ([name, damage]) => [isolation, name, damage] as const,
  ),
)

describe('L7: a workspace that is gone or damaged is whole again, with all uncommitted work', () => {
  test.each(all)('L7: %s: %s', async (isolation, _, damage) => {
    const { repo, lib, workspace, state, task } = await worked(isolation)
    const before = users(repo)
    for (const verb of Object.values(verbs)) {
      damage(repo, workspace)
      await verb(lib)
      expect(readFolder(task.path)).toEqual(state)
      // Git works in it, on the task's branch, and finds nothing that is not in a step.
      expect(workspace.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('offshoot/T1')
      expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
      expect(workspace.git('status', '--porcelain')).toBe('')
      expect(repo.git('show', 'offshoot/T1:a.txt')).toBe('changed\n')
    }
    expect(users(repo)).toEqual(before)
    workspace.write('after.txt', 'goes on\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(readTree(repo, checkpoint.commit)).toEqual(readFolder(task.path))
    if (isolation === 'worktree') expect(linkedWorktrees(repo)[0]?.path).toBe(task.path)
  })

  test.each(isolations)(
    'L7: %s: what is not in a step yet is not touched when only .git is damaged',
    async (isolation) => {
      const { repo, lib, workspace, task } = await worked(isolation)
      workspace.write('a.txt', 'not in a step\n')
      workspace.write('unsaved.txt', 'not in a step\n')
      rmSync(path.join(task.path, '.git'), { recursive: true })
      const state = readFolder(task.path)
      expect(await lib.repair('T1')).toMatchObject({ mended: 'mended' })
      expect(readFolder(task.path)).toEqual(state)
      const { checkpoint } = await lib.checkpoint({ task: 'T1' })
      expect(checkpoint.files.map((file) => file.path)).toEqual(['a.txt', 'unsaved.txt'])
      expect(repo.git('show', 'offshoot/T1:unsaved.txt')).toBe('not in a step\n')
    },
  )

  test.each(isolations)('K6: %s: a recreated workspace can be rewound to every step', async (isolation) => {
    const { repo, lib, task, workspace, state } = await worked(isolation)
    workspace.write('a.txt', 'second\n')
    await lib.checkpoint({ task: 'T1' })
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    await lib.rewind({ task: 'T1', to: 1 })
    expect(readFolder(task.path)).toEqual(state)
    await lib.rewind({ task: 'T1', to: 0 })
    expect(readFileSync(path.join(task.path, 'dir/b.txt'), 'utf8')).toBe('two\n')
    expect(readTree(repo, stepCommits(repo).at(-1) ?? '')).toEqual(readFolder(task.path))
  })

  test('L7: nothing that is there is taken for everything deleted', async () => {
    const { repo, lib, workspace } = await worked('worktree')
    const before = stepCommits(repo)
    for (const damage of ['the folder deleted', 'the folder emptied']) {
      damages[damage]?.(repo, workspace)
      await expect(lib.checkpoint({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_005' })
      await expect(lib.rewind({ task: 'T1', to: 0 })).rejects.toMatchObject({ code: 'WT_005' })
      await lib.repair('T1')
    }
    expect(stepCommits(repo)).toEqual(before)
  })

  test('L7: files that git converts come back byte for byte', async () => {
    const repo = testRepo({
      '.gitattributes': '*.txt text eol=crlf\n',
      'a.txt': 'one\n',
      'b.txt': 'two\n',
      'dir/b.txt': '',
    })
    const { lib, task, state, workspace } = await worked('worktree', repo)
    expect(readFileSync(path.join(task.path, 'b.txt'), 'utf8')).toBe('two\r\n')
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    expect(readFolder(task.path)).toEqual(state)
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    expect(workspace.git('status', '--porcelain')).toBe('')
  })

  test('L7: what git refuses to write comes back all the same', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    symlinkSync('/etc/passwd', path.join(task.path, '.gitmodules'))
    writeFileSync(path.join(task.path, 'a.txt'), 'two\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    const state = readFolder(task.path)
    expect(readTree(repo, checkpoint.commit)).toEqual(state)
    expect(repo.git('ls-tree', '--name-only', checkpoint.published ?? '')).toBe('a.txt\n')
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    expect(readFolder(task.path)).toEqual(state)
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    rmSync(path.join(task.path, 'a.txt'))
    expect((await lib.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
      { path: 'a.txt', status: 'deleted' },
    ])
  })

  test('L7: a sparse workspace stays one', async () => {
    const repo = testRepo({ 'in/a.txt': 'one\n', 'out/b.txt': 'two\n' })
    repo.git('sparse-checkout', 'set', 'in')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'in/a.txt'), 'changed\n')
    await lib.checkpoint({ task: 'T1' })
    const state = readFolder(task.path)
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    expect(readFolder(task.path)).toEqual(state)
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    expect(inFolder(repo, task.path).git('status', '--porcelain')).toBe('')
  })

  test('L7: without any step yet, the agent’s commits are what comes back', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    workspace.write('own.txt', 'own\n')
    workspace.git('add', '--all')
    workspace.git('commit', '--quiet', '--message=Own')
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    expect(readFileSync(path.join(task.path, 'own.txt'), 'utf8')).toBe('own\n')
    expect(workspace.git('status', '--porcelain')).toBe('')
  })

  test.each([
    ['start, with the folder gone', true, (lib: Library) => lib.start({ task: 'T1' })],
    ['repair, with the folder gone', true, (lib: Library) => lib.repair()],
    ['repair, with the folder there', false, (lib: Library) => lib.repair()],
  ])(
    'L5: %s, makes a lost branch of the user’s own again as it was taken, without the steps',
    async (...row) => {
      const [, folderGone, verb] = row
      const repo = testRepo()
      repo.git('branch', 'mine')
      const base = repo.git('rev-parse', 'mine').trim()
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1', existingBranch: 'mine' })
      await lib.run({ task: 'T1', create: false, command: ['sh', '-c', 'echo work > work.txt'] })
      if (folderGone) rmSync(task.path, { recursive: true })
      repo.git('worktree', 'prune')
      repo.git('update-ref', '-d', 'refs/heads/mine')
      await verb(lib)
      expect(repo.git('rev-parse', 'mine').trim()).toBe(base)
      expect(repo.git('show', 'offshoot/T1:work.txt')).toBe('work\n')
      expect(readFileSync(path.join(task.path, 'work.txt'), 'utf8')).toBe('work\n')
      expect(inFolder(repo, task.path).git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('mine')
      await lib.accept({ task: 'T1' })
      expect(readFileSync(path.join(repo.dir, 'work.txt'), 'utf8')).toBe('work\n')
    },
  )

  test('L7: steps outlive the objects of the user: their repository may be collected, and its history rewritten', async () => {
    const { repo, lib, task, state } = await worked('worktree')
    await lib.close()
    repo.git('commit', '--quiet', '--amend', '--message=Rewritten')
    repo.git('reflog', 'expire', '--expire=now', '--all')
    repo.git('gc', '--quiet', '--prune=now')
    rmSync(task.path, { recursive: true })
    const again = library(repo)
    await again.start({ task: 'T1' })
    expect(readFolder(task.path)).toEqual(state)
    // The vault holds all of it by itself.
    execFileSync(
      'git',
      ['--git-dir', vaultDir(repo), 'rev-list', '--objects', ...stepCommits(repo).slice(-1)],
      {
        stdio: 'ignore',
      },
    )
    mkdirSync(path.join(task.path, 'more'))
    expect(existsSync(path.join(task.path, '.git'))).toBe(true)
  })
})

test('R1: a workspace that goes away under a run is not made again before the run has ended', async () => {
  const repo = testRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  await lib.task('T1').run('agent', async ({ workspace }) => {
    rmSync(workspace, { recursive: true })
    await expect(lib.start({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_012', path: task.path })
    await expect(lib.repair('T1')).rejects.toMatchObject({ code: 'WT_012' })
    expect(await lib.list()).toMatchObject([{ id: 'T1', running: true }])
  })
  expect(await lib.start({ task: 'T1' })).toMatchObject({ reused: true, recreated: true })
  expect(existsSync(path.join(task.path, 'a.txt'))).toBe(true)
})
