import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, linkedWorktrees, once } from '../support/workspace.ts'

const named = { workspace: { name: '{task}' }, prune: { minKeep: 0 } }

async function started() {
  const repo = testRepo()
  const lib = library(repo, { flags: named })
  const { task } = await lib.start({ task: 'T1' })
  return { repo, lib, task }
}

/** A checkout of that name with something in it that no commit has. */
function expectAtWork(repo: TestRepo, folder: string, branch: string): void {
  expect(linkedWorktrees(repo)).toMatchObject([{ path: folder, branch }])
  const at = inFolder(repo, folder)
  at.write('own.txt', 'own\n')
  expect(at.git('status', '--porcelain')).toBe('?? own.txt\n')
}

const cases = [
  { name: 'T1', left: 'nothing' },
  { name: 'other', left: 'nothing' },
  // As an editor does that was open there.
  { name: 'other', left: 'a file' },
]

describe.each(cases)(
  'R5: a workspace that its user moved to x/$name with git, with $left written where it was, stays a checkout',
  ({ name, left }) => {
    async function moved() {
      const { repo, lib, task } = await started()
      const to = path.join(repo.home, 'x', name)
      inFolder(repo, repo.home).write('x/beside.txt', '')
      repo.git('worktree', 'move', task.path, to)
      if (left === 'a file') inFolder(repo, task.path).write('.cache/log', 'x\n')
      const back = () => {
        rmSync(task.path, { recursive: true, force: true })
        repo.git('worktree', 'move', to, task.path)
      }
      return { repo, lib, task, to, back }
    }

    test('prune leaves it, and says why', async () => {
      const { repo, lib, task, to } = await moved()
      const why = `its workspace was moved to ${to}`
      for (const dryRun of [true, false]) {
        const told = await lib.prune({ olderThanMs: 0, dryRun })
        expect(told).toMatchObject({ stale: [], removed: [], errors: [], skipped: [{ why }] })
      }
      expectAtWork(repo, to, task.branch)
    })

    test.each(['reject', 'remove', 'start', 'checkpoint'] as const)(
      '%s refuses, and works once it is back',
      async (verb) => {
        const { repo, lib, task, to, back } = await moved()
        await expect(lib[verb]({ task: 'T1' })).rejects.toMatchObject({
          code: 'WT_002',
          path: to,
          hint: expect.stringContaining(`worktree move ${to} ${task.path}`),
        })
        expect(await lib.log('T1')).toEqual([])
        expectAtWork(repo, to, task.branch)
        rmSync(path.join(to, 'own.txt'))
        back()
        await lib[verb]({ task: 'T1' })
        const isOpen = verb === 'start' || verb === 'checkpoint'
        expect(linkedWorktrees(repo).map((worktree) => worktree.path)).toEqual(isOpen ? [task.path] : [])
      },
    )

    test('doctor says where it is and how it comes back, and repair leaves it', async () => {
      const { repo, task, to } = await moved()
      const message = `its workspace was moved to ${to}`
      const hint = `git worktree move ${to} ${task.path} brings it back.`
      const checks = await once(repo, (one) => one.doctor())
      expect(checks).toContainEqual(expect.objectContaining({ name: 'task T1', message, hint }))
      const { repaired, left } = await once(repo, (one) => one.repair())
      expect([repaired, left]).toMatchObject([[], [{ message: expect.stringContaining(to) }]])
      expectAtWork(repo, to, task.branch)
    })

    test('accept refuses, and its branch stays where it is', async () => {
      const { repo, lib, task, to } = await moved()
      inFolder(repo, to).git('rm', '--quiet', '-r', '.')
      await expect(lib.accept({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_002', path: to })
      expect(repo.git('rev-parse', task.branch)).toBe(repo.git('rev-parse', 'main'))
      expect(repo.git('status', '--porcelain')).toBe('')
    })

    test('one that is gone from there, too, is made again in its place', async () => {
      const { repo, lib, task, to } = await moved()
      rmSync(to, { recursive: true })
      rmSync(task.path, { recursive: true, force: true })
      expect(await lib.start({ task: 'T1' })).toMatchObject({ recreated: true })
      expectAtWork(repo, task.path, task.branch)
    })
  },
)

test('R5: a workspace that was moved to a disk that is not there, and locked, is not made again elsewhere', async () => {
  const { repo, lib, task } = await started()
  const to = path.join(repo.home, 'disk')
  repo.git('worktree', 'move', task.path, to)
  repo.git('worktree', 'lock', to)
  renameSync(to, `${to}.away`)
  const hint = expect.stringContaining(`worktree unlock ${to}`)
  for (const verb of ['start', 'checkpoint', 'reject'] as const)
    await expect(lib[verb]({ task: 'T1' }), verb).rejects.toMatchObject({ code: 'WT_002', path: to, hint })
  const checks = await once(repo, (one) => one.doctor())
  expect(checks).toContainEqual(expect.objectContaining({ name: 'task T1', hint }))
  expect((await once(repo, (one) => one.repair())).repaired).toEqual([])
  renameSync(`${to}.away`, to)
  expectAtWork(repo, to, task.branch)
})

test('R5: a run whose workspace is moved meanwhile ends without a step of what lies where it was', async () => {
  const { repo, lib, task } = await started()
  const to = path.join(repo.home, 'moved')
  const script =
    'cd / && git -C "$1" worktree move "$2" "$3" && mkdir -p "$2/.cache" && echo x > "$2/.cache/log"'
  await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', script, 'sh', repo.dir, task.path, to)
  expect(await lib.log('T1')).toEqual([])
  expectAtWork(repo, to, task.branch)
})

describe('R5: a worktree of the user’s own that has the name of a lost workspace is left alone', () => {
  async function taken() {
    const { repo, lib, task } = await started()
    rmSync(task.path, { recursive: true })
    repo.git('worktree', 'prune')
    const theirs = path.join(repo.home, 'T1')
    repo.git('worktree', 'add', '--quiet', '-b', 'theirs', theirs)
    return { repo, lib, task, theirs }
  }

  test('reject gives the task up without it', async () => {
    const { repo, lib, theirs } = await taken()
    expect(await lib.reject({ task: 'T1' })).toMatchObject({ task: { state: 'rejected' } })
    expectAtWork(repo, theirs, 'theirs')
  })

  test('prune does, too', async () => {
    const { repo, lib, theirs } = await taken()
    expect((await lib.prune({ olderThanMs: 0 })).removed).toHaveLength(1)
    expectAtWork(repo, theirs, 'theirs')
  })

  test('start refuses to take its name, and makes the workspace again once it is free', async () => {
    const { repo, lib, task, theirs } = await taken()
    const refused = { code: 'WT_002', path: theirs, hint: expect.stringContaining('offshoot reject T1') }
    await expect(lib.start({ task: 'T1' })).rejects.toMatchObject(refused)
    expectAtWork(repo, theirs, 'theirs')
    repo.git('worktree', 'remove', '--force', theirs)
    expect(await lib.start({ task: 'T1' })).toMatchObject({ recreated: true })
    expectAtWork(repo, task.path, task.branch)
  })

  test('undo brings no workspace back that would work with it', async () => {
    const { repo, lib, task } = await started()
    await lib.reject({ task: 'T1' })
    const theirs = path.join(repo.home, 'T1')
    repo.git('worktree', 'add', '--quiet', '-b', 'theirs', theirs)
    const hint = 'Remove that worktree, then repeat.'
    await expect(lib.undo()).rejects.toMatchObject({ code: 'WT_002', path: theirs, hint })
    expectAtWork(repo, theirs, 'theirs')
    repo.git('worktree', 'remove', '--force', theirs)
    await lib.undo()
    expectAtWork(repo, task.path, task.branch)
  })
})
