/** K9: a file that a rule ignores is the agent's work all the same, once its git tracks it. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

async function started(isolation: 'worktree' | 'clone' | 'branch' = 'worktree') {
  const user = testRepo({ '.gitignore': '*.log\n', a: 'a\n' })
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1', isolation })
  const workspace = inFolder(user, task.path)
  const add = (name: string) => {
    workspace.write(name, `${name}\n`)
    workspace.git('add', '--force', name)
  }
  const read = (name: string) => readFileSync(path.join(user.dir, name), 'utf8')
  return { user, repo, task, workspace, add, read }
}

test.each(['worktree', 'clone', 'branch'] as const)(
  'K9: in a %s a step holds what is ignored and was added by force, staged or committed, and nothing else that is ignored',
  async (isolation) => {
    const { repo, workspace, add } = await started(isolation)
    workspace.write('other.log', 'ignored\n')
    add('deep/staged.log')
    const paths = async () => (await repo.checkpoint({ task: 'T1' })).checkpoint.files.map(({ path }) => path)
    expect(await paths()).toEqual(['deep/staged.log'])
    add('committed.log')
    workspace.git('commit', '--quiet', '--message=By force')
    expect(await paths()).toEqual(['committed.log'])
    workspace.write('committed.log', 'more\n')
    expect(await paths()).toEqual(['committed.log'])
    expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
  },
)

test('K9: a tool that names what it has added by force has it in its step', async () => {
  const { repo, workspace, add } = await started()
  add('named.log')
  workspace.write('other.log', 'ignored\n')
  const { checkpoint } = await repo.checkpoint({ task: 'T1', files: ['named.log', 'other.log'] })
  expect(checkpoint.files).toEqual([{ path: 'named.log', status: 'added' }])
})

test('K9: one that was deleted and added again by force is back', async () => {
  const { repo, workspace, add } = await started()
  add('k.log')
  await repo.checkpoint({ task: 'T1' })
  workspace.git('rm', '--quiet', '--force', 'k.log')
  await repo.checkpoint({ task: 'T1' })
  add('k.log')
  const { checkpoint } = await repo.checkpoint({ task: 'T1' })
  expect(checkpoint.files).toEqual([{ path: 'k.log', status: 'added' }])
})

test.each(['patch', 'squash', 'merge', 'rebase'] as const)(
  'K9, A1, A2: what was added by force and committed lands through %s, and undo takes it back',
  async (as) => {
    const { user, repo, workspace, add, read } = await started()
    add('k.log')
    add('c')
    workspace.git('commit', '--quiet', '--message=By force')
    const before = checkoutState(user)
    const { operation, accepted } = await repo.accept({ task: 'T1', as })
    expect(accepted?.files).toEqual([
      { path: 'c', status: 'added' },
      { path: 'k.log', status: 'added' },
    ])
    expect(read('k.log')).toBe('k.log\n')
    const tracked = as === 'patch' ? '.gitignore\na\n' : '.gitignore\na\nc\nk.log\n'
    expect(user.git('ls-files')).toBe(tracked)
    if (as === 'rebase') expect(user.git('log', '-1', '--format=%s')).toBe('By force\n')
    await repo.undo(operation)
    expect(checkoutState(user)).toEqual(before)
  },
)

test('K9, A2: the branch that is kept has what was added by force', async () => {
  const { user, repo, workspace, add } = await started()
  add('k.log')
  workspace.git('commit', '--quiet', '--message=By force')
  add('staged.log')
  await repo.accept({ task: 'T1', as: 'keep-branch' })
  expect(user.git('ls-tree', '--name-only', 'offshoot/T1')).toBe('.gitignore\na\nk.log\nstaged.log\n')
})

test('A3: an ignored file of the user’s in the way of one that was added by force is a conflict', async () => {
  const { user, repo, add, read } = await started()
  add('k.log')
  user.write('k.log', 'mine\n')
  for (const as of ['patch', 'squash'] as const)
    await expect(repo.accept({ task: 'T1', as })).rejects.toMatchObject({
      code: 'WT_011',
      data: { conflicts: [{ path: 'k.log', kind: 'untracked' }] },
    })
  expect(read('k.log')).toBe('mine\n')
})

test('K9, L7: it comes back with a workspace that is made again', async () => {
  const { repo, task, add } = await started()
  add('k.log')
  await repo.checkpoint({ task: 'T1' })
  rmSync(task.path, { recursive: true })
  await repo.start({ task: 'T1' })
  expect(existsSync(path.join(task.path, 'k.log'))).toBe(true)
  expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
})
