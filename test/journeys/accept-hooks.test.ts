import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, type TestRepo } from '../support/repo.ts'
import { worked } from '../support/worked.ts'

function hook(user: TestRepo, name: string, does: string, folder = path.join(user.dir, '.git', 'hooks')) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${does}\n`)
  chmodSync(path.join(folder, name), 0o755)
}

/** Hooks that note when they run, where, and on which commit; and one that signs each message. */
async function hooked() {
  const here = await worked({ f: 'one\n' }, [{ f: 'two\n' }, { g: 'new\n' }])
  const noted = path.join(here.user.home, 'noted')
  for (const name of ['pre-commit', 'pre-merge-commit', 'post-commit', 'post-merge', 'post-rewrite']) {
    hook(here.user, name, `echo "${name} $* $(pwd) $(git log -1 --format=%s)" >> '${noted}'`)
  }
  hook(here.user, 'commit-msg', `echo >> "$1"; echo 'Signed: yes' >> "$1"`)
  const notes = () => (existsSync(noted) ? readFileSync(noted, 'utf8').trimEnd().split('\n') : [])
  return { ...here, notes }
}

test.each(['squash', 'merge', 'rebase', 'patch', 'keep-branch'] as const)(
  'P4: without --hooks, %s runs none',
  async (as) => {
    const { user, repo, notes } = await hooked()
    await repo.accept({ task: 'T1', as })
    expect(notes()).toEqual([])
    expect(user.git('log', '--all', '--format=%B')).not.toContain('Signed')
  },
)

test('A11: commit-msg changes the message, and post-commit runs in the checkout when all is there', async () => {
  const { user, repo, notes } = await hooked()
  const { accepted } = await repo.accept({ task: 'T1', as: 'squash', message: 'All of it', hooks: true })
  expect(user.git('log', '-1', '--format=%B').trim()).toBe('All of it\n\nSigned: yes')
  expect(accepted?.commit).toBe(user.git('rev-parse', 'main').trim())
  expect(notes()).toEqual([`post-commit  ${user.dir} All of it`])
  expect(user.git('status', '--porcelain')).toBe('')
})

test('A11: rebase asks for each message and tells once; merge tells post-merge', async () => {
  const { user, repo, notes } = await hooked()
  const { operation } = await repo.accept({ task: 'T1', as: 'rebase', hooks: true })
  expect(user.git('log', '--format=%B', 'main~2..main').match(/Signed: yes/g)).toHaveLength(2)
  expect(notes()).toEqual([`post-commit  ${user.dir} AI Tool: Edit - g`])
  await repo.undo(operation)
  await repo.accept({ task: 'T1', as: 'merge', hooks: true })
  expect(notes()[1]).toBe(`post-merge 0 ${user.dir} Merge the work of T1`)
})

test('A11: a message that commit-msg refuses lands nothing, and its words are told', async () => {
  const { user, repo, notes } = await hooked()
  hook(user, 'commit-msg', `grep -q '^fix:' "$1" || { echo 'say what kind it is' >&2; exit 1; }`)
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1', as: 'squash', message: 'All', hooks: true })).rejects.toMatchObject({
    code: 'WT_017',
    message: expect.stringContaining('say what kind it is'),
  })
  expect(checkoutState(user)).toEqual(before)
  expect(notes()).toEqual([])
  const { json } = await offshoot(
    user,
    'accept',
    'T1',
    '--as',
    'squash',
    '-m',
    'fix: all',
    '--hooks',
    '--json',
  )
  expect(json).toMatchObject({ ok: true, task: { state: 'accepted' } })
})

test('A11: hooks come from where the user’s git takes them; one that fails afterwards changes nothing', async () => {
  const { user, repo } = await hooked()
  const folder = path.join(user.home, 'my hooks')
  user.git('config', 'core.hooksPath', folder)
  hook(user, 'commit-msg', `echo 'Changed' > "$1"`, folder)
  hook(user, 'post-commit', 'exit 3', folder)
  await repo.accept({ task: 'T1', as: 'squash', hooks: true })
  expect(user.git('log', '-1', '--format=%B').trim()).toBe('Changed')
})

test('A11: a branch that is checked out nowhere has nobody to be told; where no commit is made, hooks are refused', async () => {
  const { user, repo, notes } = await hooked()
  user.git('branch', 'release')
  const { operation } = await repo.accept({ task: 'T1', as: 'squash', onto: 'release', hooks: true })
  expect(user.git('log', '-1', '--format=%B', 'release')).toContain('Signed: yes')
  expect(notes()).toEqual([])
  await repo.undo(operation)
  for (const as of ['patch', 'keep-branch'] as const) {
    await expect(repo.accept({ task: 'T1', as, hooks: true })).rejects.toMatchObject({ code: 'WT_019' })
  }
})
