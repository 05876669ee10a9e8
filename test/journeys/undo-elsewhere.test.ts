/** P3: an undo of commits moves their branch back, and with it the checkout that has that branch now. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

async function worked() {
  const user = testRepo({ a: 'one\n', b: 'two\n' })
  user.git('config', 'user.name', 'Ursula')
  user.git('config', 'user.email', 'ursula@example.com')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'a'), 'of the agent\n')
  writeFileSync(path.join(task.path, 'new'), 'new\n')
  await repo.checkpoint({ task: 'T1' })
  return { user, repo }
}

const state = (user: TestRepo) => user.git('status', '--porcelain', '--branch')

describe.each(['squash', 'merge', 'rebase'] as const)('P3: the undo of a %s', (as) => {
  test('leaves a checkout alone that has gone over to another branch, and so does the redo', async () => {
    const { user, repo } = await worked()
    const main = user.git('rev-parse', 'main')
    await repo.accept({ task: 'T1', as })
    const landed = user.git('rev-parse', 'main')
    user.git('switch', '--quiet', '--create', 'feat')
    user.write('b', 'mine\n')
    const { [`refs/heads/main`]: _, ...before } = fingerprint(user)
    const { operation } = await repo.undo()
    expect(user.git('rev-parse', 'main')).toBe(main)
    expect(fingerprint(user)).toMatchObject(before)
    await repo.undo(operation)
    expect(user.git('rev-parse', 'main')).toBe(landed)
    expect(fingerprint(user)).toMatchObject(before)
  })

  test('takes the files out of the checkout that has come to the branch since, and the redo brings them again', async () => {
    const { user, repo } = await worked()
    user.git('switch', '--quiet', '--create', 'feat')
    const { operation } = await repo.accept({ task: 'T1', as })
    expect(state(user)).toBe('## feat\n')
    user.git('switch', '--quiet', 'main')
    user.write('b', 'mine\n')
    const back = await repo.undo(operation)
    expect(state(user)).toBe('## main\n M b\n')
    expect(user.git('ls-files')).toBe('a\nb\n')
    await repo.undo(back.operation)
    expect(state(user)).toBe('## main\n M b\n')
    expect(user.git('ls-files')).toBe('a\nb\nnew\n')
  })

  test('does not move a branch that a rebase stands on, and the rebase can go on', async () => {
    const { user, repo } = await worked()
    user.git('branch', 'other')
    const { operation } = await repo.accept({ task: 'T1', as })
    user.git('switch', '--quiet', 'other')
    user.write('a', 'other\n')
    user.git('commit', '--quiet', '--all', '--message=Other')
    user.git('switch', '--quiet', 'main')
    expect(() => user.git('rebase', 'other')).toThrow(/could not apply/)
    await expect(repo.undo(operation)).rejects.toMatchObject({ code: 'WT_002', path: user.dir })
    user.git('checkout', '--quiet', '--theirs', 'a')
    user.git('add', 'a')
    user.git('-c', 'core.editor=true', 'rebase', '--continue')
    expect(user.git('symbolic-ref', '--short', 'HEAD')).toBe('main\n')
  })

  test('is refused where the user has changes of their own in its way', async () => {
    const { user, repo } = await worked()
    user.git('switch', '--quiet', '--create', 'feat')
    await repo.accept({ task: 'T1', as })
    user.git('switch', '--quiet', 'main')
    user.write('a', 'mine\n')
    const before = fingerprint(user)
    await expect(repo.undo()).rejects.toMatchObject({
      code: 'WT_011',
      data: { conflicts: [{ path: 'a', kind: 'changed' }] },
    })
    expect(fingerprint(user)).toEqual(before)
  })
})

test.each(['squash', 'merge', 'rebase'] as const)(
  'A2: %s lands and leaves again names that are no text',
  async (as) => {
    const { user, repo } = await worked()
    const odd = Buffer.concat([Buffer.from(`${user.dir}/l`), Buffer.from([0xe9])])
    writeFileSync(odd, 'one\n')
    user.git('add', '--all')
    user.git('commit', '--quiet', '--message=Odd')
    const { task } = await repo.start({ task: 'T2' })
    for (const tail of [0xe9, 0xe8])
      writeFileSync(Buffer.concat([Buffer.from(`${task.path}/l`), Buffer.from([tail])]), 'of the agent\n')
    await repo.accept({ task: 'T2', as })
    expect(user.git('status', '--porcelain')).toBe('')
    expect(user.git('ls-files')).toBe('a\nb\n"l\\350"\n"l\\351"\n')
    await repo.undo()
    expect(user.git('status', '--porcelain')).toBe('')
    expect(user.git('ls-files')).toBe('a\nb\n"l\\351"\n')
  },
)
