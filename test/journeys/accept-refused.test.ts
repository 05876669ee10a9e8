/** What an accept says no to before it does anything. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

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
