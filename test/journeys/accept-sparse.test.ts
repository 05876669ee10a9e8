/** A1, A2: what a sparse checkout of the user's leaves out is unchanged, not deleted. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { lines, worked } from '../support/worked.ts'

const strategies = ['squash', 'merge', 'rebase'] as const

/** The checkout is made sparse when the task is under way. */
async function sparse() {
  const begun = await worked({ 'd/x': 'x\n', 'e/e': lines(), 'e/gone': 'gone\n' })
  begun.user.git('sparse-checkout', 'set', 'd')
  writeFileSync(begun.at('e/e'), lines({ 3: 'agent' }))
  rmSync(begun.at('e/gone'))
  writeFileSync(begun.at('e/new'), 'new\n')
  const flags = () => begun.user.git('ls-files', '-t')
  return { ...begun, flags, mine: (name: string) => path.join(begun.user.dir, name) }
}

test('A1: a patch writes what lands outside of a sparse checkout, and undo takes it away again', async () => {
  const { user, repo, read, flags } = await sparse()
  const [before, hidden] = [checkoutState(user), flags()]
  const { operation } = await repo.accept({ task: 'T1', only: ['e/e', 'e/new'] })
  expect([read('e/e'), read('e/new')]).toEqual([lines({ 3: 'agent' }), 'new\n'])
  await repo.undo(operation)
  expect(checkoutState(user)).toEqual(before)
  expect(flags()).toBe(hidden)
})

test('A3: a patch cannot delete what is not there anyway, and says so', async () => {
  const { user, repo } = await sparse()
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: [{ path: 'e/gone', kind: 'delete/modify' }] },
  })
  expect(checkoutState(user)).toEqual(before)
})

test('A1: what the user has committed there since is merged', async () => {
  const { user, repo, at, read } = await worked({ 'd/x': 'x\n', 'e/e': lines() })
  writeFileSync(path.join(user.dir, 'e/e'), lines({ 17: 'user' }))
  user.git('commit', '--quiet', '--all', '--message=Mine')
  user.git('sparse-checkout', 'set', 'd')
  writeFileSync(at('e/e'), lines({ 3: 'agent' }))
  await repo.accept({ task: 'T1' })
  expect(read('e/e')).toBe(lines({ 3: 'agent', 17: 'user' }))
})

test.each(strategies)('A2: %s leaves it out of the checkout, which is clean, as git does', async (as) => {
  const { user, repo, mine, read, flags } = await sparse()
  const [before, hidden] = [checkoutState(user), flags()]
  const { operation } = await repo.accept({ task: 'T1', as })
  expect(user.git('status', '--porcelain')).toBe('')
  expect(user.git('show', 'HEAD:e/e')).toBe(lines({ 3: 'agent' }))
  expect([existsSync(mine('e/e')), read('e/new')]).toEqual([false, 'new\n'])
  expect(user.git('ls-files', 'e')).toBe('e/e\ne/new\n')
  await repo.undo(operation)
  expect(checkoutState(user)).toEqual(before)
  expect(flags()).toBe(hidden)
})

test.each(['patch', ...strategies] as const)(
  'A3: what the user has changed outside of it is still in the way of %s',
  async (as) => {
    const { user, repo, mine } = await sparse()
    user.write('e/e', lines({ 3: 'user' }))
    await expect(repo.accept({ task: 'T1', as })).rejects.toMatchObject({ code: 'WT_011' })
    expect(readFileSync(mine('e/e'), 'utf8')).toBe(lines({ 3: 'user' }))
  },
)
