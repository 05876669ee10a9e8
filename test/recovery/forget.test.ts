import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import type { FileSystem } from '../../src/core/ports/files.ts'
import type { Store } from '../../src/core/ports/store.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, inFolder, library } from '../support/workspace.ts'

async function twoTasks(isolation: 'worktree' | 'clone' = 'worktree') {
  const user = testRepo()
  const repo = library(user)
  const tasks = []
  for (const id of ['T1', 'T2']) {
    const { task } = await repo.start({ task: id, isolation })
    writeFileSync(path.join(task.path, 'unsaved'), `${id}\n`)
    tasks.push(task)
  }
  const known = async () => (await offshoot(user, 'repos', '--json')).json.repos as { path: string }[]
  return { user, repo, tasks, known }
}

test('R10: forgetting closes each open task as one operation; undo brings each back, and the repository with it', async () => {
  const { user, repo, tasks, known } = await twoTasks()
  const before = checkoutState(user)
  const { json } = await offshoot(user, 'repos', 'forget', '.', '--json')
  expect(json).toMatchObject({ ok: true, repo: path.join(user.dir, '.git') })
  expect(json.closed).toHaveLength(2)
  expect(tasks.map((task) => existsSync(task.path))).toEqual([false, false])
  expect(branches(user)).toEqual(['main'])
  expect(checkoutState(user)).toEqual(before)
  expect(await known()).toEqual([])
  expect(await repo.list()).toEqual([])
  for (const { operation } of json.closed) await repo.undo(operation)
  expect(tasks.map((task) => readFileSync(path.join(task.path, 'unsaved'), 'utf8'))).toEqual(['T1\n', 'T2\n'])
  expect(await known()).toHaveLength(1)
})

test('R10: the next start in it makes the repository known again, under its old record', async () => {
  const { repo, known } = await twoTasks()
  const [old] = await known()
  await repo.forget()
  expect(await known()).toEqual([])
  await repo.start({ task: 'T3' })
  expect(await known()).toEqual([{ ...old, openTasks: 1 }])
})

test.each(['worktree', 'clone'] as const)(
  'R10: a repository that is gone is forgotten too, and not a byte of its %ss is lost',
  async (isolation) => {
    const { user, repo, tasks } = await twoTasks(isolation)
    await repo.close()
    rmSync(user.dir, { recursive: true })
    const elsewhere = inFolder(user, user.home)
    const { json } = await offshoot(elsewhere, 'repos', 'forget', 'repo', '--json')
    expect(json).toMatchObject({ ok: true, closed: [{ task: { state: 'rejected' } }, {}] })
    expect(tasks.map((task) => existsSync(task.path))).toEqual([false, false])
    for (const { path: folder } of tasks) {
      const trash = path.join(path.dirname(folder), '.trash', path.basename(folder), 'workspace')
      expect(readFileSync(path.join(trash, 'unsaved'), 'utf8')).toMatch(/^T[12]\n$/)
    }
    expect((await offshoot(elsewhere, 'repos', '--json')).json.repos).toEqual([])
  },
)

test('R10: a repository that comes back after it was forgotten has its tasks back by undo', async () => {
  const { user, repo, tasks } = await twoTasks()
  await repo.close()
  renameSync(user.dir, `${user.dir}.away`)
  const { json } = await offshoot(
    inFolder(user, user.home),
    'repos',
    'forget',
    path.join(user.dir, '.git'),
    '--json',
  )
  renameSync(`${user.dir}.away`, user.dir)
  const again = library(user)
  for (const { operation } of json.closed) await again.undo(operation)
  expect((await again.list()).map((task) => task.id).sort()).toEqual(['T1', 'T2'])
  for (const { path: folder, id } of tasks) {
    expect(readFileSync(path.join(folder, 'unsaved'), 'utf8')).toBe(`${id}\n`)
    await again.checkpoint({ task: id })
    expect(inFolder(user, folder).git('branch', '--show-current')).toBe(`offshoot/${id}\n`)
  }
})

test('R10: while an agent is at work nothing is closed, and what is not known is told', async () => {
  const { user, repo } = await twoTasks()
  await repo.task('T1').run('agent', async () => {
    await expect(repo.forget()).rejects.toMatchObject({ code: 'WT_012' })
  })
  expect(await repo.list()).toHaveLength(2)
  const { code, json } = await offshoot(user, 'repos', 'forget', '/nowhere', '--json')
  expect([code, json.error.code]).toEqual([3, 'WT_005'])
})

describe('R5, R10: a repository that is gone in the middle of a verb', () => {
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

  /** From there on nothing of that kind can be noted: the verb comes to no end. */
  const refusing =
    (...types: string[]) =>
    (store: Store): Store => ({
      ...store,
      async append(change) {
        const refused = change.entries.find(({ type }) => types.includes(type))
        if (refused) throw new Error(`no room for ${refused.type}`)
        return store.append(change)
      },
    })

  async function goneRepo(prepare: (user: TestRepo) => Promise<unknown>) {
    const user = testRepo()
    const lib = library(user)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'unsaved'), 'T1\n')
    await lib.close()
    await prepare(user)
    renameSync(user.dir, `${user.dir}.away`)
    const elsewhere = inFolder(user, user.home)
    const forget = () => offshoot(elsewhere, 'repos', 'forget', 'repo', '--json')
    const back = () => {
      expect(existsSync(user.dir)).toBe(false)
      renameSync(`${user.dir}.away`, user.dir)
      return library(user)
    }
    return { user, elsewhere, task, forget, back }
  }

  test('a run whose process was killed is ended without a step, and no agent is at work any more', async () => {
    const { elsewhere, task, forget, back } = await goneRepo(async (user) => {
      const ready = path.join(user.home, 'ready')
      const command = [
        'run',
        '--task',
        'T1',
        '--',
        'sh',
        '-c',
        `echo half > half; touch '${ready}'; sleep 60`,
      ]
      const child = spawn(process.execPath, [bin, ...command], {
        cwd: user.dir,
        env: user.env,
        stdio: 'ignore',
      })
      await until(() => existsSync(ready), 'the agent is at work')
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    })
    const { json } = await offshoot(elsewhere, 'recover', '--json')
    expect(json.recovered).toMatchObject([{ task: 'T1', verdict: 'finished' }])
    const { json: gone } = await forget()
    expect(gone).toMatchObject({ ok: true, closed: [{ task: { id: 'T1' } }], errors: [] })
    const lib = back()
    await lib.undo(gone.closed[0].operation)
    expect(readFileSync(path.join(task.path, 'unsaved'), 'utf8')).toBe('T1\n')
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: true })
  })

  test.each([
    ['that was not staged is taken back', ['operation.staged', 'operation.undone'], 'rolled back'],
    ['that was staged is finished but for the refs', ['operation.done'], 'finished'],
  ])('a reject %s', async (_, types, verdict) => {
    const { elsewhere, task, forget, back } = await goneRepo(async (user) => {
      const faulty = library(user, { around: { store: refusing(...types) } })
      await expect(faulty.reject({ task: 'T1' })).rejects.toThrow('no room')
      await faulty.close()
    })
    const { json } = await offshoot(elsewhere, 'recover', '--json')
    expect(json.recovered).toMatchObject([{ task: 'T1', verdict }])
    expect((await forget()).json).toMatchObject({ ok: true, errors: [] })
    const lib = back()
    await lib.undo()
    expect(readFileSync(path.join(task.path, 'unsaved'), 'utf8')).toBe('T1\n')
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ checkpoint: { n: 1 } })
  })

  test('a reject whose refs had not moved can be undone all the same when the repository is back', async () => {
    const { elsewhere, task, back } = await goneRepo(async (user) => {
      const files = (real: FileSystem): FileSystem => ({
        ...real,
        // The refs do not move, and that it has failed cannot be noted.
        writeNew: (target, content) =>
          target.includes('/refs/') ? Promise.reject(new Error('no refs')) : real.writeNew(target, content),
      })
      const faulty = library(user, {
        around: { files, store: refusing('operation.undone', 'operation.unstaged') },
      })
      await expect(faulty.reject({ task: 'T1' })).rejects.toThrow('no refs')
      await faulty.close()
    })
    const { json } = await offshoot(elsewhere, 'recover', '--json')
    expect(json.recovered).toMatchObject([{ task: 'T1', verdict: 'finished' }])
    const lib = back()
    await lib.undo()
    expect(readFileSync(path.join(task.path, 'unsaved'), 'utf8')).toBe('T1\n')
    expect((await lib.list()).map(({ id }) => id)).toEqual(['T1'])
  })

  test('a start is taken back', async () => {
    const { elsewhere, forget } = await goneRepo(async (user) => {
      const faulty = library(user, { around: { store: refusing('start.done', 'start.undone') } })
      await expect(faulty.start({ task: 'T2' })).rejects.toThrow('no room')
      await faulty.close()
    })
    const { json } = await offshoot(elsewhere, 'recover', '--json')
    expect(json.recovered).toMatchObject([{ task: 'T2', verdict: 'rolled back' }])
    expect((await forget()).json).toMatchObject({ ok: true, closed: [{ task: { id: 'T1' } }] })
  })
})

test('R10: what would stop one task is found before the first is closed, and nothing is done', async () => {
  const { user, repo, tasks } = await twoTasks()
  const away = path.join(user.home, 'away')
  // The one that would be closed last.
  user.git('worktree', 'move', tasks[0]!.path, away)
  await expect(repo.forget()).rejects.toMatchObject({ code: 'WT_002', path: away })
  expect(await repo.list()).toHaveLength(2)
  user.git('worktree', 'move', away, tasks[0]!.path)
  for (const task of ['T1', 'T2']) await repo.checkpoint({ task })
  await repo.close()
  const ports = compose({ env: user.env })
  const { uid = '' } = (await ports.store.findTaskByPath(tasks[0]!.path)) ?? {}
  await ports.close()
  for (const steps of globSync(path.join(user.home, 'state/vaults/*.git/refs/tasks', uid)))
    writeFileSync(steps, '')
  const again = library(user)
  await expect(again.forget()).rejects.toMatchObject({ name: 'AppError' })
  expect(await again.list()).toHaveLength(2)
})

test('R10: what cannot be closed after all is told, and so is what was closed', async () => {
  const { user, repo, tasks, known } = await twoTasks()
  await repo.close()
  const stuck = (files: FileSystem): FileSystem => ({
    ...files,
    rename: (from, to) =>
      from === tasks[0]!.path ? Promise.reject(new Error('it is held')) : files.rename(from, to),
  })
  const faulty = library(user, { around: { files: stuck } })
  const { closed, errors } = await faulty.forget()
  expect([closed, errors]).toMatchObject([[{ task: { id: 'T2' } }], [{ task: { id: 'T1' } }]])
  expect(await known()).toHaveLength(1)
  await faulty.close()
  const { stdout } = await offshoot(user, 'repos', 'forget', '.')
  expect(stdout).toContain('Forgot ')
  expect(await known()).toEqual([])
})

test('R10, R12: of a repository that is gone all goes in its time, with a prune in any other', async () => {
  const { user, repo, tasks } = await twoTasks()
  await repo.checkpoint({ task: 'T1' })
  await repo.close()
  rmSync(user.dir, { recursive: true })
  const elsewhere = inFolder(user, user.home)
  const { stdout } = await offshoot(elsewhere, 'repos', 'forget', 'repo')
  const [command = ''] = /undo \w{6} -C \S+/.exec(stdout) ?? []
  // What it says to do can be done from anywhere, and makes nothing where the repository was.
  expect((await offshoot(elsewhere, ...command.split(' '))).code).toBe(0)
  expect([tasks.some((task) => existsSync(task.path)), existsSync(user.dir)]).toEqual([true, false])
  await offshoot(elsewhere, 'repos', 'forget', 'repo')
  const other = path.join(user.home, 'other')
  execFileSync('git', ['init', '--quiet', other], { env: user.env })
  const soon = library(inFolder(user, other), { flags: { trash: { keepDays: 0 } } })
  const { errors, warnings } = await soon.prune()
  expect([errors, warnings[0]]).toEqual([
    [],
    expect.stringMatching(/ which is gone: Deleted for good: 2 tasks, closed for 0 days\.$/),
  ])
  expect(globSync(path.join(user.home, 'state/workspaces/*/.trash/*'))).toEqual([])
  expect(globSync(path.join(user.home, 'state/vaults/*.git/refs/tasks/*'))).toEqual([])
  expect(globSync(path.join(user.home, 'state/vaults/*.git/tasks/*'))).toEqual([])
})
