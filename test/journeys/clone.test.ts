import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Fingerprint, fingerprint } from '../support/fingerprint.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { readFolder, readTree } from '../support/vault.ts'
import { branches, commitFile, inFolder, library, withEnv } from '../support/workspace.ts'

const branch = 'offshoot/T1'

async function cloned(repo = testRepo({ 'a.txt': 'one\n', 'dir/b.txt': 'two\n' })) {
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', isolation: 'clone' })
  return { repo, lib, task, workspace: inFolder(repo, task.path) }
}

/** The whole `.git` of the user's, byte for byte. */
function gitFolder(repo: TestRepo): Record<string, string> {
  const root = path.join(repo.dir, '.git')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    lstatSync(path.join(root, name)).isFile(),
  )
  return Object.fromEntries(files.map((name) => [name, readFileSync(path.join(root, name), 'latin1')]))
}

function withoutPin(files: Record<string, string>): Fingerprint {
  return Object.fromEntries(
    Object.entries(files).filter(([name]) => !/refs\/offshoot\/|^objects\//.test(name)),
  )
}

describe('isolation clone', () => {
  test('L1: a repository of its own on the task’s branch, with the files of the base', async () => {
    const { repo, task, workspace } = await cloned()
    expect(task).toMatchObject({ isolation: 'clone', branch })
    expect(lstatSync(path.join(task.path, '.git')).isDirectory()).toBe(true)
    expect(workspace.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe(branch)
    expect(workspace.git('rev-parse', 'HEAD').trim()).toBe(repo.git('rev-parse', 'main').trim())
    expect(workspace.git('status', '--porcelain')).toBe('')
    expect(repo.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(readFolder(task.path)).toEqual(readFolder(repo.dir))
    workspace.git('fsck', '--full')
  })

  test('L1: knows the user’s branches, tags, remotes and name, and nothing of theirs that runs', async () => {
    const repo = testRepo()
    repo.git('branch', 'topic')
    repo.git('branch', '🦉')
    repo.git('branch', '\uffee')
    repo.git('tag', '--annotate', '--message=One', 'v1')
    repo.git('config', 'user.name', 'Jürgen "J" O\\Neil')
    repo.git('remote', 'add', 'origin', 'https://example.com/x.git')
    repo.git('config', 'core.fsmonitor', 'touch /tmp/never')
    repo.git('config', 'alias.x', '!touch /tmp/never')
    repo.git('config', 'filter.x.clean', 'touch /tmp/never')
    writeFileSync(path.join(repo.dir, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const { workspace } = await cloned(repo)
    for (const name of ['topic', 'main', 'v1', '🦉', '\uffee']) {
      expect(workspace.git('rev-parse', name)).toBe(repo.git('rev-parse', name))
    }
    expect(workspace.git('config', 'user.name').trim()).toBe('Jürgen "J" O\\Neil')
    expect(workspace.git('remote', 'get-url', 'origin').trim()).toBe('https://example.com/x.git')
    expect(workspace.git('config', '--local', '--list')).not.toMatch(/never/)
    commitFile(workspace, 'x.txt', 'no hook stops it\n')
  })

  test('P1: until a step is published the user’s repository is byte for byte as it was, whatever the agent does', async () => {
    const made = testRepo({ 'a.txt': 'one\n', 'dir/b.txt': 'two\n' })
    const repo = withEnv(made, { OFFSHOOT_CHECKPOINTS_PUBLISH: 'never' })
    const known = library(repo)
    await known.start({ task: 'T0', isolation: 'clone' })
    const before = { files: fingerprint(repo), git: withoutPin(gitFolder(repo)) }
    const { lib, workspace } = await cloned(repo)
    workspace.write('a.txt', 'changed\n')
    await lib.checkpoint({ task: 'T1' })
    commitFile(workspace, 'own.txt', 'own\n')
    workspace.git('branch', '--force', 'main', 'HEAD')
    workspace.git('tag', 'agents')
    workspace.git('config', 'user.name', 'Agent')
    workspace.git('reset', '--quiet', '--hard', 'HEAD~1')
    workspace.git('reflog', 'expire', '--expire=now', '--all')
    workspace.git('gc', '--quiet', '--prune=now')
    await lib.checkpoint({ task: 'T1' })
    await lib.rewind({ task: 'T1', to: 0 })
    await lib.run(
      { task: 'T1', create: false, command: ['sh', '-c', 'echo x > x; git add -A; git commit -qm x'] },
      { onEvent: () => {} },
    )
    expect(fingerprint(repo)).toEqual(before.files)
    expect(withoutPin(gitFolder(repo))).toEqual(before.git)
    expect(branches(repo)).toEqual(['main'])
  })

  test('K1: the published branch arrives, one commit per step, and nothing else changes', async () => {
    const { repo, lib, workspace } = await cloned()
    const before = fingerprint(repo)
    workspace.write('a.txt', 'changed\n')
    const first = await lib.checkpoint({ task: 'T1', tool: 'Edit', summary: 'a.txt' })
    workspace.write('c.txt', 'new\n')
    const second = await lib.checkpoint({ task: 'T1', tool: 'Write', summary: 'c.txt' })
    expect(repo.git('log', '--reverse', '--format=%s', `main..${branch}`)).toBe(
      'AI Tool: Edit - a.txt\nAI Tool: Write - c.txt\n',
    )
    expect(repo.git('rev-parse', `${branch}~1`, branch).trim().split('\n')).toEqual([
      first.checkpoint.published,
      second.checkpoint.published,
    ])
    expect(workspace.git('rev-parse', 'HEAD').trim()).toBe(second.checkpoint.published)
    expect(workspace.git('status', '--porcelain')).toBe('')
    expect(fingerprint(repo)).toEqual(before)
    repo.git('fsck', '--full', '--strict')
    workspace.git('fsck', '--full')
  })

  test.each([
    ['on the task’s branch', []],
    ['on a branch of its own', ['switch', '--quiet', '--create', 'agents']],
    ['on no branch', ['switch', '--quiet', '--detach']],
  ])('K5: the agent’s commits %s arrive with the steps', async (_, command) => {
    const { repo, lib, workspace } = await cloned()
    if (command.length > 0) workspace.git(...command)
    const own = commitFile(workspace, 'own.txt', 'own\n')
    workspace.write('a.txt', 'changed\n')
    await lib.checkpoint({ task: 'T1' })
    expect(repo.git('merge-base', '--is-ancestor', own, branch)).toBe('')
    expect(repo.git('show', `${branch}:own.txt`)).toBe('own\n')
    expect(branches(repo)).toEqual(['main', branch])
    repo.git('fsck', '--full', '--strict')
  })

  test('P2: objects that the agent deleted keep no step from being taken and published', async () => {
    const { repo, lib, workspace, task } = await cloned()
    commitFile(workspace, 'own.txt', 'own\n')
    const objects = path.join(task.path, '.git/objects')
    for (const name of readdirSync(objects).filter((folder) => folder.length === 2))
      rmSync(path.join(objects, name), { recursive: true })
    workspace.write('a.txt', 'changed\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(readTree(repo, checkpoint.commit)).toEqual(readFolder(task.path))
    expect(repo.git('show', `${branch}:own.txt`)).toBe('own\n')
    repo.git('fsck', '--full', '--strict')
  })

  test('P1: a branch of the user’s that has the name of the task’s is not taken', async () => {
    const repo = testRepo()
    repo.git('branch', branch)
    await expect(library(repo).start({ task: 'T1', isolation: 'clone' })).rejects.toMatchObject({
      code: 'WT_002',
    })
    expect(await library(repo).list()).toEqual([])
    expect(branches(repo)).toEqual(['main', branch])
  })

  test('K6: log, diff, rewind and show work as in a worktree', async () => {
    const { repo, lib, workspace, task } = await cloned()
    workspace.write('a.txt', 'changed\n')
    await lib.checkpoint({ task: 'T1' })
    workspace.write('new.txt', 'new\n')
    await lib.checkpoint({ task: 'T1' })
    expect((await lib.diff({ task: 'T1', step: '2' })).diff).toContain('+new')
    expect(await lib.show('T1')).toMatchObject({ files: 2, insertions: 2, deletions: 1, dirty: false })
    await lib.rewind({ task: 'T1', to: 1 })
    expect(existsSync(path.join(task.path, 'new.txt'))).toBe(false)
    expect((await lib.log('T1')).map((step) => step.n)).toEqual([1, 2, 3])
    expect(repo.git('rev-parse', `${branch}:a.txt`)).toBe(workspace.git('hash-object', 'a.txt'))
    // From inside of the clone, the task is known without being named.
    expect((await library(workspace).checkpoint({})).created).toBe(false)
  })

  test('R2: removed, it leaves nothing in the user’s repository; the folder is in the trash', async () => {
    const { repo, lib, workspace, task } = await cloned()
    const before = fingerprint(repo)
    workspace.write('a.txt', 'changed\n')
    await lib.checkpoint({ task: 'T1' })
    const { removed, trash } = await lib.remove({ task: 'T1' })
    expect(removed).toBe(true)
    expect(existsSync(task.path)).toBe(false)
    expect(readFileSync(path.join(trash ?? '', 'workspace/a.txt'), 'utf8')).toBe('changed\n')
    expect(branches(repo)).toEqual(['main'])
    expect(fingerprint(repo)).toEqual(before)
  })

  test('L10: a clone of a SHA-256 repository', async () => {
    const repo = testRepo()
    rmSync(path.join(repo.dir, '.git'), { recursive: true })
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', '--object-format=sha256'], {
      cwd: repo.dir,
      env: repo.env,
    })
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--message=First')
    const { lib, workspace } = await cloned(repo)
    workspace.write('a.txt', 'changed\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(checkpoint.published).toHaveLength(64)
    expect(repo.git('show', `${branch}:a.txt`)).toBe('changed\n')
    await lib.rewind({ task: 'T1', to: 0 })
    repo.git('fsck', '--full', '--strict')
  })
})
