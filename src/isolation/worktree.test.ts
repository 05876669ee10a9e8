/** Linked worktrees that we register: git must take them for its own. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { testRepo, type TestRepo } from '../../test/support/repo.ts'
import { inFolder, linkedWorktrees } from '../../test/support/workspace.ts'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import { nodeFiles } from '../files/node.ts'
import { gitExec } from '../git/exec.ts'
import { readWorktrees } from '../git/worktrees.ts'
import { withoutPlace, worktreeIsolation } from './worktree.ts'

const files = nodeFiles()

/** A repository with a branch for each task, and the means to make their worktrees. */
function stage(...ids: string[]) {
  const user = testRepo()
  const commonDir = path.join(user.dir, '.git')
  const place = { commonDir, gitDir: commonDir, checkout: user.dir }
  const repo: Repo = { id: 'r', name: 'repo-r', commonDir, mark: '', addedAt: '', place }
  const commit = user.git('rev-parse', 'HEAD').trim()
  const tasks = ids.map((id) => {
    user.git('branch', id)
    return { id, uid: `uid-${id}`, path: path.join(user.home, id), branch: id, base: { commit } } as Task
  })
  const exec = gitExec({ env: user.env, recordChild: () => () => {} })
  return {
    user,
    repo,
    commit,
    tasks: tasks as [Task, ...Task[]],
    exec,
    worktrees: worktreeIsolation(exec, files),
  }
}

const branchesOf = (user: TestRepo) => linkedWorktrees(user).map(({ branch }) => branch)

describe('worktreeIsolation', () => {
  test('L1: git knows the worktree as one that it made itself', async () => {
    const { user, repo, commit, tasks, worktrees } = stage('T1')
    await worktrees.make(repo, tasks[0])
    expect(linkedWorktrees(user)).toEqual([{ path: tasks[0].path, branch: 'T1', head: commit }])
    expect(user.git('worktree', 'prune', '--dry-run', '--verbose')).toBe('')
    expect(inFolder(user, tasks[0].path).git('status', '--porcelain')).toBe('')
    const mark = readFileSync(path.join(user.dir, '.git/worktrees/T1/offshoot.json'), 'utf8')
    expect(JSON.parse(mark)).toEqual({ task: 'T1', uid: 'uid-T1' })
  })

  test('S2: it does not fail when another process takes the empty folder of registrations away', async () => {
    const { user, repo, tasks, exec } = stage('T1')
    let taken = 0
    const rival: typeof files = {
      ...files,
      rename(from, to) {
        if (taken++ < 3) rmdirSync(path.join(user.dir, '.git/worktrees'))
        return files.rename(from, to)
      },
    }
    await worktreeIsolation(exec, rival).make(repo, tasks[0])
    expect(branchesOf(user)).toEqual(['T1'])
  })

  test('L6: a folder that is there is not taken', async () => {
    const { user, repo, tasks, worktrees } = stage('T1')
    mkdirSync(tasks[0].path)
    await expect(worktrees.make(repo, tasks[0])).rejects.toMatchObject({
      code: 'WT_001',
      path: tasks[0].path,
    })
    expect(existsSync(path.join(user.dir, '.git/worktrees'))).toBe(false)
  })

  test('R2: a registration goes into the trash, and their folder when it was the last', async () => {
    const { user, repo, tasks, worktrees } = stage('T1', 'T2')
    for (const task of tasks) await worktrees.make(repo, task)
    const trash = (name: string) => path.join(user.home, 'trash', name)
    await worktrees.detach(repo, tasks[0], trash('T1'))
    expect(branchesOf(user)).toEqual(['T2'])
    expect(readFileSync(path.join(trash('T1'), 'HEAD'), 'utf8')).toBe('ref: refs/heads/T1\n')
    await worktrees.detach(repo, tasks[0], trash('again'))
    expect(existsSync(trash('again'))).toBe(false)
    await worktrees.detach(repo, tasks[1]!, trash('T2'))
    expect(existsSync(path.join(user.dir, '.git/worktrees'))).toBe(false)
  })

  test('R5: a registration that leads to another folder stays, and one that leads nowhere goes if it carries our mark', async () => {
    const { user, repo, tasks, worktrees } = stage('T1')
    await worktrees.make(repo, tasks[0])
    const to = path.join(user.home, 'moved')
    user.git('worktree', 'move', tasks[0].path, to)
    const own = (name: string) => path.join(user.dir, '.git/worktrees/T1', name)
    const trash = path.join(user.home, 'trash')
    expect(await worktrees.findOther(repo, tasks[0])).toEqual({ path: to, isMoved: true })
    rmSync(own('offshoot.json'))
    expect(await worktrees.findOther(repo, tasks[0])).toEqual({ path: to, isMoved: false })
    await worktrees.detach(repo, tasks[0], trash)
    expect(inFolder(user, to).git('status', '--porcelain')).toBe('')
    for (const damaged of ['', 'garbage\n', `${tasks[0].path}/.git\n`, '../../../../T1/.git\n']) {
      writeFileSync(own('gitdir'), damaged)
      expect(await worktrees.findOther(repo, tasks[0]), damaged).toBeUndefined()
    }
    rmSync(own('gitdir'))
    await worktrees.detach(repo, tasks[0], trash)
    expect([existsSync(own('')), existsSync(trash)]).toEqual([true, false])
    writeFileSync(own('offshoot.json'), JSON.stringify({ task: 'T1', uid: 'uid-T1' }))
    await worktrees.detach(repo, tasks[0], trash)
    expect([existsSync(own('')), existsSync(trash)]).toEqual([false, true])
  })

  test('R5: one that its user moved and locked is theirs also while its disk is not there', async () => {
    const { user, repo, tasks, worktrees } = stage('T1')
    await worktrees.make(repo, tasks[0])
    const to = path.join(user.home, 'moved')
    user.git('worktree', 'move', tasks[0].path, to)
    user.git('worktree', 'lock', to)
    rmSync(to, { recursive: true })
    const own = path.join(user.dir, '.git/worktrees/T1')
    expect(await worktrees.findOther(repo, tasks[0])).toEqual({ path: to, isMoved: true, isAway: true })
    await worktrees.detach(repo, tasks[0], path.join(user.home, 'trash'))
    expect(existsSync(own)).toBe(true)
    for (const lock of ['initializing', undefined]) {
      if (lock === undefined) rmSync(path.join(own, 'locked'))
      else writeFileSync(path.join(own, 'locked'), lock)
      expect(await worktrees.findOther(repo, tasks[0])).toBeUndefined()
    }
  })

  test.each([
    ['its .git file is gone', (folder: string) => rmSync(path.join(folder, '.git'))],
    [
      'its .git file points elsewhere',
      (folder: string) => writeFileSync(path.join(folder, '.git'), 'gitdir: /x\n'),
    ],
    [
      'its registration is gone',
      (_: string, user: TestRepo) => rmSync(path.join(user.dir, '.git/worktrees'), { recursive: true }),
    ],
  ])('L7: a worktree is mended when %s, and its files stay', async (_, damage) => {
    const { user, repo, tasks, worktrees } = stage('T1')
    await worktrees.make(repo, tasks[0])
    writeFileSync(path.join(tasks[0].path, 'a.txt'), 'changed\n')
    const aside = path.join(user.home, 'aside')
    expect(await worktrees.mend(repo, tasks[0], aside)).toBe(false)
    damage(tasks[0].path, user)
    expect(await worktrees.mend(repo, tasks[0], aside)).toBe(true)
    expect(branchesOf(user)).toEqual(['T1'])
    expect(inFolder(user, tasks[0].path).git('status', '--porcelain')).toBe(' M a.txt\n')
  })
})

describe('readWorktrees', () => {
  test('S1: all checkouts with their branches, those of the user too', async () => {
    const { user, repo } = stage()
    user.git('worktree', 'add', '--quiet', '-b', 'topic', path.join(user.home, 'one'))
    user.git('worktree', 'add', '--quiet', '--detach', path.join(user.home, 'two'))
    mkdirSync(path.join(user.dir, '.git/worktrees/broken'))
    const found = await readWorktrees(files, repo.place)
    expect(found[0]).toEqual({ name: null, path: user.dir, branch: 'main' })
    expect(new Set(found.slice(1))).toEqual(
      new Set([
        { name: 'one', path: path.join(user.home, 'one'), branch: 'topic' },
        { name: 'two', path: path.join(user.home, 'two'), branch: null },
      ]),
    )
  })

  test.each(['config', 'config.worktree'])(
    'L10: a bare repository (says %s) has no branch checked out',
    async (file) => {
      const { user, repo } = stage()
      user.git('config', '--unset', 'core.bare')
      user.git('config', 'extensions.worktreeConfig', 'true')
      user.git('config', '--file', path.join(user.dir, '.git', file), 'core.bare', 'true')
      expect(await readWorktrees(files, repo.place)).toMatchObject([{ name: null, branch: null }])
    },
  )
})

describe('withoutPlace', () => {
  test('L10: what a worktree inherits does not say where the other one is', () => {
    const config =
      '[core]\n\tsparseCheckout = true\n\tworktree = /elsewhere\n\tbare\n  BARE = true\n[index]\n\tsparse = true\n'
    expect(withoutPlace(config)).toBe('[core]\n\tsparseCheckout = true\n[index]\n\tsparse = true\n')
    expect(withoutPlace('[core]\r\n\tworktree = /x')).toBe('[core]\r\n')
    expect(withoutPlace('[my]\n\tworktreeName = x\n')).toBe('[my]\n\tworktreeName = x\n')
  })
})
