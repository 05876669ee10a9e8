/** What an accept says no to before it does anything. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

/** A commit on top of another on main, and a task whose work is `new`. */
async function worked() {
  const user = testRepo({ f: 'one\n' })
  user.git('config', '--global', 'user.name', 'User')
  user.git('config', '--global', 'user.email', 'user@example.com')
  user.git('branch', 'other')
  user.write('f', 'two\n')
  user.git('commit', '--quiet', '--all', '--message=Two')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'new'), 'new\n')
  return { user, repo, task }
}

test.each([
  { what: 'an empty message', args: ['--as', 'squash', '-m', ''] },
  { what: 'a message of blanks', args: ['--as', 'merge', '-m', ' \n'] },
  { what: 'a branch to land a patch on', args: ['--onto', 'other'] },
  { what: 'a branch to keep a branch on', args: ['--as', 'keep-branch', '--onto', 'other'] },
])('I5: $what is wrong usage, and nothing is done', async ({ args }) => {
  const { user, repo } = await worked()
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', ...args, '--json')
  expect([code, json.error.code]).toEqual([2, 'WT_019'])
  expect(checkoutState(user)).toEqual(before)
  expect((await repo.find('T1'))?.checkpoints).toBe(0)
})

test('A6: a workspace that is gone is told, and the task stays open', async () => {
  const { user, repo, task } = await worked()
  rmSync(task.path, { recursive: true })
  const { code, json } = await offshoot(user, 'accept', 'T1', '--json')
  expect([code, json.error.code, json.error.path]).toEqual([3, 'WT_005', task.path])
  expect((await repo.find('T1'))?.state).toBe('stale')
  await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'new'), 'new again\n')
  expect((await offshoot(user, 'accept', 'T1')).code).toBe(0)
  expect(user.git('status', '--porcelain')).toBe('?? new\n')
})

test('A4: a branch whose lock a git holds is told with the path of the lock, and nothing changes', async () => {
  const { user } = await worked()
  const lock = path.join(user.dir, '.git/refs/heads/main.lock')
  const before = checkoutState(user)
  writeFileSync(lock, '')
  const { code, json } = await offshoot(user, 'accept', 'T1', '--as', 'squash', '--json')
  expect([code, json.error.code, json.error.path]).toEqual([5, 'WT_012', lock])
  expect(existsSync(lock)).toBe(true)
  rmSync(lock)
  expect(checkoutState(user)).toEqual(before)
  expect((await offshoot(user, 'accept', 'T1', '--as', 'squash')).code).toBe(0)
})

test('A2: a branch that a rebase stands on is not moved, and the rebase can go on', async () => {
  const { user } = await worked()
  user.git('switch', '--quiet', 'other')
  user.write('f', 'three\n')
  user.git('commit', '--quiet', '--all', '--message=Three')
  user.git('switch', '--quiet', 'main')
  expect(() => user.git('rebase', 'other')).toThrow(/could not apply/)
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', '--as', 'squash', '--json')
  expect([code, json.error.code, json.error.path]).toEqual([5, 'WT_002', user.dir])
  expect(checkoutState(user)).toEqual(before)
  user.git('add', 'f')
  user.git('-c', 'core.editor=true', 'rebase', '--continue')
  expect((await offshoot(user, 'accept', 'T1', '--as', 'squash')).code).toBe(0)
})

test('A2: a branch that a bisect in another checkout stands on is not moved', async () => {
  const { user } = await worked()
  user.git('switch', '--quiet', 'other')
  const beside = inFolder(user, path.join(user.home, 'beside'))
  user.git('worktree', 'add', '--quiet', beside.dir, 'main')
  beside.git('bisect', 'start', 'main', 'other')
  beside.git('checkout', '--quiet', '--detach')
  const before = user.git('rev-parse', 'main')
  const { code, json } = await offshoot(user, 'accept', 'T1', '--as', 'merge', '--json')
  expect([code, json.error.code, json.error.path]).toEqual([5, 'WT_002', beside.dir])
  expect(user.git('rev-parse', 'main')).toBe(before)
})

test.each(['squash', 'merge', 'rebase'] as const)(
  'A2: %s onto the branch that the task itself works on is refused with the way out',
  async (as) => {
    const user = testRepo()
    user.git('config', '--global', 'user.name', 'User')
    user.git('config', '--global', 'user.email', 'user@example.com')
    user.git('branch', 'ex')
    const repo = library(user)
    const { task } = await repo.start({ task: 'T1', existingBranch: 'ex' })
    writeFileSync(path.join(task.path, 'new'), 'new\n')
    const before = checkoutState(user)
    const { code, json } = await offshoot(user, 'accept', 'T1', '--as', as, '--json')
    expect([code, json.error.code]).toEqual([2, 'WT_019'])
    expect(json.error.hint).toMatch(/--as patch.*--as keep-branch.*--onto/)
    expect(checkoutState(user)).toEqual(before)
    await repo.accept({ task: 'T1', as, onto: 'main' })
    expect(user.git('show', 'main:new')).toBe('new\n')
  },
)

test('A9: what is refused would not land, and the preview says so', async () => {
  const user = testRepo()
  const { task } = await library(user).start({ task: 'T1' })
  writeFileSync(path.join(task.path, '.env'), 'TOKEN=1\n')
  const preview = async (...more: string[]) =>
    (await offshoot(user, 'accept', 'T1', '--dry-run', ...more)).stdout.split('\n')
  const [refused, ...lines] = await preview()
  expect(refused).toBe('T1 would not land:')
  expect(lines).toContain('  needs --allow: .env (looks like a secret, by its name)')
  expect(await preview('--allow', '.env')).toContain('T1 would land cleanly:')
})
