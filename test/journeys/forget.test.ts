import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, testRepo } from '../support/repo.ts'
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
