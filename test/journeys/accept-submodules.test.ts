/** A9, K5: what an agent does to submodules is seen, refused unless allowed, and lands as the pointer that it is. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { commitFile, inFolder, library } from '../support/workspace.ts'

const submodule = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet']

async function started(isolation: 'worktree' | 'clone' | 'branch' = 'worktree') {
  const inner = testRepo({ 'lib.txt': 'lib\n' })
  const user = testRepo({ a: 'a\n' })
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  user.git(...submodule, 'add', inner.dir, 'sub')
  user.git('commit', '--quiet', '--message=Sub')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1', isolation })
  const workspace = inFolder(user, task.path)
  const sub = inFolder(user, path.join(task.path, 'sub'))
  const pointer = (commit = 'HEAD', name = 'sub') =>
    /^160000 commit (\w+)/.exec(user.git('ls-tree', commit, name))?.[1]
  return { inner, user, repo, task, workspace, sub, pointer }
}

const refused = (name: string) => ({
  code: 'WT_017',
  data: { refused: [{ path: name, why: 'a change of a submodule' }] },
})

test.each(['worktree', 'clone'] as const)(
  'A9, K5: in a %s a pointer that moved is a change of the step, named in the preview, and refused unless allowed',
  async (isolation) => {
    const { user, repo, sub } = await started(isolation)
    commitFile(sub, 'lib.txt', 'changed\n')
    const { checkpoint } = await repo.checkpoint({ task: 'T1' })
    expect(checkpoint.files).toEqual([{ path: 'sub', status: 'modified' }])
    expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    const before = checkoutState(user)
    for (const as of ['patch', 'squash', 'merge', 'rebase'] as const) {
      const { preview } = await repo.accept({ task: 'T1', as, dryRun: true })
      expect(preview).toMatchObject({ clean: true, ...refused('sub').data })
      await expect(repo.accept({ task: 'T1', as })).rejects.toMatchObject(refused('sub'))
    }
    expect(checkoutState(user)).toEqual(before)
  },
)

test.each(['squash', 'merge', 'rebase'] as const)(
  'A2, A9: a pointer that the agent moved and committed lands through %s when it is allowed, and undo takes it back',
  async (as) => {
    const { user, repo, workspace, sub, pointer } = await started()
    const moved = commitFile(sub, 'lib.txt', 'changed\n')
    workspace.write('a', 'agent\n')
    workspace.git('commit', '--quiet', '--all', '--message=Bump')
    const before = checkoutState(user)
    const { operation } = await repo.accept({ task: 'T1', as, allow: ['sub'] })
    expect(pointer()).toBe(moved)
    expect(user.git('diff', '--cached', '--name-only')).toBe('')
    // The commit that it names is for the user to check out, as after a pull.
    expect(user.git('status', '--porcelain')).toBe(' M sub\n')
    expect(readFileSync(path.join(user.dir, 'a'), 'utf8')).toBe('agent\n')
    await repo.undo(operation)
    expect(checkoutState(user)).toEqual(before)
  },
)

test.each(['worktree', 'clone'] as const)(
  'A9: a commit that the agent made in a submodule of a %s is where git submodule update finds it, also after gc',
  async (isolation) => {
    const { user, repo, sub, pointer } = await started(isolation)
    const moved = commitFile(sub, 'lib.txt', 'changed\n')
    await repo.accept({ task: 'T1', as: 'squash', allow: ['sub'] })
    expect(pointer()).toBe(moved)
    const own = inFolder(user, path.join(user.dir, 'sub'))
    own.git('gc', '--quiet', '--prune=now')
    user.git('submodule', '--quiet', 'update')
    expect(readFileSync(path.join(user.dir, 'sub/lib.txt'), 'utf8')).toBe('changed\n')
    expect(own.git('fsck', '--strict')).not.toContain('missing')
    expect(user.git('status', '--porcelain')).toBe('')
    expect(
      readdirSync(path.join(user.dir, '.git/modules/sub')).filter((name) => name.startsWith('offshoot')),
    ).toEqual([])
  },
)

test('A9: a pointer whose commit only the workspace has does not land where there is no copy to bring it to', async () => {
  const { inner, user, repo, workspace } = await started()
  workspace.git(...submodule, 'add', inner.dir, 'more')
  const more = inFolder(user, path.join(workspace.dir, 'more'))
  commitFile(more, 'lib.txt', 'changed\n')
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1', as: 'squash', allow: ['more'] })).rejects.toMatchObject({
    code: 'WT_017',
    message: expect.stringContaining('exists only in the workspace'),
    hint: expect.stringContaining(`${workspace.dir}/more`),
  })
  expect(checkoutState(user)).toEqual(before)
  more.git('push', '--quiet', 'origin', 'HEAD:refs/heads/agent')
  expect((await repo.accept({ task: 'T1', as: 'squash', allow: ['more'] })).task.state).toBe('accepted')
})

test('A1, A5, A9: a patch has no place for a pointer: the files land, the task stays open, and a commit lands the rest', async () => {
  const { user, repo, workspace, sub, pointer } = await started()
  const moved = commitFile(sub, 'lib.txt', 'changed\n')
  workspace.write('a', 'agent\n')
  expect((await repo.accept({ task: 'T1', allow: ['sub'], dryRun: true })).preview?.left).toEqual(['sub'])
  const { stdout } = await offshoot(user, 'accept', 'T1', '--allow', 'sub')
  expect(stdout).toContain('1 file; the task stays open\n')
  expect(stdout).toContain('not landed: sub (only a commit has a place for a submodule)')
  expect(stdout).toContain('land it as a commit: offshoot accept T1 --as squash --allow sub\n')
  expect(user.git('status', '--porcelain')).toBe(' M a\n')
  await expect(repo.accept({ task: 'T1', allow: ['sub'] })).rejects.toMatchObject({ code: 'WT_019' })
  const rest = await repo.accept({ task: 'T1', as: 'squash', allow: ['sub'] })
  expect([rest.task.state, pointer()]).toEqual(['accepted', moved])
  expect(user.git('status', '--porcelain')).toBe(' M a\n M sub\n')
})

test('A9: a submodule that the agent added is a pointer, and refused unless allowed', async () => {
  const { inner, user, repo, workspace, pointer } = await started()
  workspace.git(...submodule, 'add', inner.dir, 'more')
  const { checkpoint } = await repo.checkpoint({ task: 'T1' })
  expect(checkpoint.files).toEqual([
    { path: '.gitmodules', status: 'modified' },
    { path: 'more', status: 'added' },
  ])
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject(refused('more'))
  await repo.accept({ task: 'T1', as: 'squash', allow: ['more'] })
  expect(pointer('HEAD', 'more')).toBe(inner.git('rev-parse', 'HEAD').trim())
  expect(user.git('status', '--porcelain')).toBe('')
  expect(user.git('submodule', 'status')).toMatch(/^-\w+ more$/m)
})

test('A9: what was taken as files becomes a pointer when the agent makes a submodule of it', async () => {
  const { inner, repo, workspace } = await started()
  workspace.git('clone', '--quiet', inner.dir, 'more')
  expect((await repo.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
    { path: 'more/lib.txt', status: 'added' },
  ])
  workspace.git('rm', '-r', '--cached', '--quiet', 'more')
  workspace.git(...submodule, 'add', inner.dir, 'more')
  expect((await repo.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
    { path: '.gitmodules', status: 'modified' },
    { path: 'more', status: 'added' },
    { path: 'more/lib.txt', status: 'deleted' },
  ])
})

test('A9: a submodule that the agent removed is refused unless allowed; a commit removes it, a patch does not say so', async () => {
  const { user, repo, workspace, pointer } = await started()
  workspace.git('rm', '--quiet', 'sub')
  workspace.write('a', 'agent\n')
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject(refused('sub'))
  const { accepted, task } = await repo.accept({ task: 'T1', allow: ['sub'] })
  expect(accepted?.files.map((file) => file.path)).toEqual(['.gitmodules', 'a'])
  expect([task.state, user.git('ls-files', 'sub')]).toEqual(['active', 'sub\n'])
  await repo.accept({ task: 'T1', as: 'squash', allow: ['sub'] })
  expect([pointer(), user.git('ls-files', 'sub')]).toEqual([undefined, ''])
  // What is checked out there stays, as git leaves it.
  expect(existsSync(path.join(user.dir, 'sub/lib.txt'))).toBe(true)
})

test('A8, K6: a pointer that an update or a rewind brings stays, though what is checked out does not follow', async () => {
  const { user, repo, sub } = await started()
  const own = inFolder(user, path.join(user.dir, 'sub'))
  const theirs = commitFile(own, 'lib.txt', 'of the user\n')
  user.git('commit', '--quiet', '--all', '--message=Bump')
  await repo.update({ task: 'T1' })
  expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
  expect((await repo.accept({ task: 'T1', dryRun: true })).preview).toMatchObject({ files: [], refused: [] })
  expect(user.git('ls-tree', 'HEAD', 'sub')).toContain(theirs)
  const last = (await repo.log('T1')).at(-1)?.n ?? 0
  commitFile(sub, 'lib.txt', 'of the agent\n')
  expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: true })
  await repo.rewind({ task: 'T1', to: last })
  expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
})

test('L7, K5: a workspace that is made again keeps the pointer, also of a commit that is lost', async () => {
  const { repo, task, sub, pointer } = await started()
  const moved = commitFile(sub, 'lib.txt', 'changed\n')
  await repo.checkpoint({ task: 'T1' })
  rmSync(task.path, { recursive: true })
  await repo.start({ task: 'T1' })
  expect(await repo.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
  expect(pointer('offshoot/T1')).toBe(moved)
})

test('L12, A9: on a shadow branch a pointer that moved lands with the commit, and the checkout is clean', async () => {
  const { user, repo, sub, pointer } = await started('branch')
  const moved = commitFile(sub, 'lib.txt', 'changed\n')
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject(refused('sub'))
  await repo.accept({ task: 'T1', allow: ['sub'] })
  expect([pointer('main'), user.git('status', '--porcelain')]).toEqual([moved, ''])
})
