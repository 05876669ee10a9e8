/** L12: a task on a shadow branch, in the user's own checkout. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'

const lines = (...changes: [number, string][]) => {
  const all = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`)
  for (const [n, text] of changes) all[n - 1] = text
  return `${all.join('\n')}\n`
}

/** A checkout with every kind of uncommitted work. */
function dirtyRepo(): TestRepo {
  const user = testRepo({
    f: lines(),
    both: lines(),
    staged: 'one\n',
    gone: 'gone\n',
    hidden: 'of everybody\n',
    'run.sh': '#!/bin/sh\n',
    '.gitignore': '*.log\n',
    'deep/er/file': 'deep\n',
  })
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  user.write('f', lines([2, 'mine']))
  user.write('both', lines([5, 'staged']))
  user.write('staged', 'two\n')
  user.write('new', 'added\n')
  user.write('kept.log', 'added although ignored\n')
  user.git('add', 'both', 'staged', 'new')
  user.git('add', '--force', 'kept.log')
  user.write('both', lines([5, 'staged'], [9, 'not staged']))
  user.git('rm', '--quiet', 'gone')
  rmSync(path.join(user.dir, 'deep'), { recursive: true })
  chmodSync(path.join(user.dir, 'run.sh'), 0o755)
  user.write('meant', 'to be added\n')
  user.git('add', '--intent-to-add', 'meant')
  user.git('update-index', '--assume-unchanged', 'hidden')
  user.write('hidden', 'of mine\n')
  user.write('untracked/a.txt', 'untracked\n')
  user.write('secret.env', 'KEY=1\n')
  chmodSync(path.join(user.dir, 'secret.env'), 0o600)
  symlinkSync('f', path.join(user.dir, 'link'))
  user.write('build.log', 'ignored\n')
  return user
}

function opened(user: TestRepo) {
  const repo = openRepo(user.dir, { env: user.env })
  onTestFinished(() => repo.close())
  return repo
}

async function worked(user: TestRepo) {
  const repo = opened(user)
  const { task } = await repo.start({ task: 'T1', isolation: 'branch', title: 'Shadow work' })
  user.write('f', lines([18, 'agent']))
  await repo.checkpoint({ task: 'T1', tool: 'Edit', summary: 'f' })
  user.write('made/by/agent.txt', 'agent\n')
  await repo.checkpoint({ task: 'T1', tool: 'Write', summary: 'agent.txt' })
  return { repo, task }
}

test('L12: the checkout is clean and on the task’s branch, with one commit per tool call', async () => {
  const user = dirtyRepo()
  const { task } = await worked(user)
  expect(task).toMatchObject({ isolation: 'branch', path: user.dir, branch: 'offshoot/T1' })
  expect(user.git('log', '--format=%D %s')).toBe(
    'HEAD -> offshoot/T1 AI Tool: Write - agent.txt\n AI Tool: Edit - f\nmain First commit\n',
  )
  expect(user.git('status', '--porcelain')).toBe('')
  expect(user.git('show', '--stat', '--format=', 'HEAD~1').trim().split('\n')).toHaveLength(2)
  expect(existsSync(path.join(user.dir, 'secret.env'))).toBe(false)
  expect(readFileSync(path.join(user.dir, 'build.log'), 'utf8')).toBe('ignored\n')
})

test('L12, R1: reject brings everything back byte for byte, index and permissions included', async () => {
  const user = dirtyRepo()
  const before = fingerprint(user)
  const { repo } = await worked(user)
  user.write('not/taken/yet', 'sweep\n')
  await repo.reject({ task: 'T1' })
  expect(fingerprint(user)).toEqual(before)
  expect(user.git('branch', '--list', 'offshoot/*')).toBe('')
})

test('L12, P3: a reject can be undone and redone', async () => {
  const user = dirtyRepo()
  const before = fingerprint(user)
  const { repo } = await worked(user)
  const during = fingerprint(user)
  await repo.reject({ task: 'T1' })
  const undone = await repo.undo()
  expect(fingerprint(user)).toEqual({ ...during, 'git/index': expect.any(String) })
  expect((await repo.show('T1')).state).toBe('active')
  await repo.undo(undone.operation)
  expect(fingerprint(user)).toEqual(before)
})

test('L12: what the user does on another branch of the checkout is not taken for the agent’s', async () => {
  const user = dirtyRepo()
  const { repo } = await worked(user)
  user.git('switch', '--quiet', '--create', 'mine')
  user.write('f', lines([7, 'on my branch']))
  const during = fingerprint(user)
  const { checkpoints } = await repo.show('T1')
  const refused = { code: 'WT_002', hint: expect.stringContaining('git switch offshoot/T1') }
  for (const verb of ['accept', 'reject', 'checkpoint', 'update'] as const)
    await expect(repo[verb]({ task: 'T1' })).rejects.toMatchObject(refused)
  await expect(repo.start({ task: 'T2', isolation: 'branch' })).rejects.toMatchObject(refused)
  expect(fingerprint(user)).toEqual(during)
  expect(await repo.show('T1')).toMatchObject({ state: 'active', checkpoints })
  user.git('stash', '--quiet')
  user.git('switch', '--quiet', 'offshoot/T1')
  await repo.accept({ task: 'T1' })
  expect(user.git('show', 'main:f')).toBe(lines([18, 'agent']))
})

test('L12, P3: an undo is refused when the checkout is not as it was left', async () => {
  const user = dirtyRepo()
  const { repo } = await worked(user)
  await repo.reject({ task: 'T1' })
  user.write('f', lines([3, 'since']))
  const since = fingerprint(user)
  await expect(repo.undo()).rejects.toMatchObject({ code: 'WT_011' })
  user.write('f', lines([2, 'mine']))
  user.git('add', 'f')
  await expect(repo.undo()).rejects.toMatchObject({ code: 'WT_011' })
  user.git('reset', '--quiet', 'f')
  user.write('f', lines([3, 'since']))
  expect(fingerprint(user).status).toEqual(since.status)
})

test('L12, A2: accept is one commit on the branch it came from, and what was uncommitted is so again', async () => {
  const user = dirtyRepo()
  const status = user.git('status', '--porcelain')
  const staged = user.git('diff', '--cached')
  const { repo } = await worked(user)
  const { accepted } = await repo.accept({ task: 'T1' })
  expect(accepted).toMatchObject({ as: 'squash', onto: 'main' })
  expect(user.git('log', '--format=%D %s')).toBe('HEAD -> main Shadow work\n First commit\n')
  expect(user.git('show', 'HEAD:f')).toBe(lines([18, 'agent']))
  expect(user.git('diff', 'HEAD', '--name-only', '--', 'made')).toBe('')
  expect(readFileSync(path.join(user.dir, 'f'), 'utf8')).toBe(lines([2, 'mine'], [18, 'agent']))
  expect(user.git('status', '--porcelain')).toBe(status)
  expect(user.git('diff', '--cached')).toBe(staged)
  const before = fingerprint(user)
  await repo.undo()
  await repo.accept({ task: 'T1', message: 'Again' })
  const { status: now, ...again } = fingerprint(user)
  expect(again).toMatchObject({ 'checkout/f': before['checkout/f'] })
  expect(now).toBe(
    before.status?.replace(/^# branch.oid .*$/m, `# branch.oid ${user.git('rev-parse', 'HEAD').trim()}`),
  )
})

test('L12, A1: as a patch both sides’ changes lie in the checkout, and what was staged is still staged', async () => {
  const user = dirtyRepo()
  const staged = user.git('diff', '--cached')
  const { repo } = await worked(user)
  await repo.accept({ task: 'T1', as: 'patch' })
  expect(user.git('log', '--format=%D %s')).toBe('HEAD -> main First commit\n')
  expect(user.git('diff', '--cached')).toBe(staged)
  expect(readFileSync(path.join(user.dir, 'f'), 'utf8')).toBe(lines([2, 'mine'], [18, 'agent']))
  expect(readFileSync(path.join(user.dir, 'made/by/agent.txt'), 'utf8')).toBe('agent\n')
})

test('L12, A2: a change of a file of which a part is staged is in both: index and checkout', async () => {
  const user = dirtyRepo()
  const repo = opened(user)
  await repo.start({ task: 'T1', isolation: 'branch' })
  user.write('both', lines([15, 'agent']))
  await repo.accept({ task: 'T1' })
  expect(user.git('show', 'HEAD:both')).toBe(lines([15, 'agent']))
  expect(user.git('show', ':both')).toBe(lines([5, 'staged'], [15, 'agent']))
  expect(readFileSync(path.join(user.dir, 'both'), 'utf8')).toBe(
    lines([5, 'staged'], [9, 'not staged'], [15, 'agent']),
  )
  expect(user.git('fsck', '--no-dangling')).toBe('')
})

test('L12, A3: work that meets what was put away is a conflict, and nothing is written', async () => {
  const user = dirtyRepo()
  const repo = opened(user)
  await repo.start({ task: 'T1', isolation: 'branch' })
  user.write('f', lines([2, 'agent']))
  user.write('untracked/a.txt', 'of the agent\n')
  const before = fingerprint(user)
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: expect.arrayContaining([{ path: 'f', kind: 'content' }]) },
  })
  expect(fingerprint(user)['checkout/f']).toBe(before['checkout/f'])
  expect(fingerprint(user).status).toMatch(/branch.head offshoot\/T1/)
  await repo.reject({ task: 'T1' })
  expect(readFileSync(path.join(user.dir, 'untracked/a.txt'), 'utf8')).toBe('untracked\n')
})

test('L12: keep-branch leaves the branch, and the checkout is as it was', async () => {
  const user = dirtyRepo()
  const before = fingerprint(user)
  const { repo } = await worked(user)
  await repo.accept({ task: 'T1', as: 'keep-branch' })
  expect(fingerprint(user)).toEqual(before)
  expect(user.git('show', 'offshoot/T1:made/by/agent.txt')).toBe('agent\n')
})

test('L12: the base branch may move meanwhile, by somebody else’s hand', async () => {
  const user = dirtyRepo()
  const { repo } = await worked(user)
  const tree = user.git('rev-parse', 'main^{tree}').trim()
  user.git(
    'update-ref',
    'refs/heads/main',
    user.git('commit-tree', '-p', 'main', '-m', 'elsewhere', tree).trim(),
  )
  await repo.accept({ task: 'T1' })
  expect(user.git('log', '--format=%s', 'main')).toBe('Shadow work\nelsewhere\nFirst commit\n')
  expect(readFileSync(path.join(user.dir, 'f'), 'utf8')).toBe(lines([2, 'mine'], [18, 'agent']))
})

test('L12: a second one in the same checkout gives the first up, recoverably', async () => {
  const user = dirtyRepo()
  const before = fingerprint(user)
  const { repo } = await worked(user)
  await repo.start({ task: 'T2', isolation: 'branch' })
  expect((await repo.list()).map(({ id }) => id)).toEqual(['T2'])
  expect(user.git('status', '--porcelain')).toBe('')
  await repo.reject({ task: 'T2' })
  expect(fingerprint(user)).toEqual(before)
})

test('L10, L12: a detached HEAD and a merge under way are refused, and nothing changes', async () => {
  const user = dirtyRepo()
  const repo = opened(user)
  user.git('branch', 'other')
  writeFileSync(path.join(user.dir, '.git/MERGE_HEAD'), user.git('rev-parse', 'main'))
  const merging = fingerprint(user)
  await expect(repo.start({ task: 'T1', isolation: 'branch' })).rejects.toMatchObject({ code: 'WT_004' })
  expect(fingerprint(user)).toEqual(merging)
  rmSync(path.join(user.dir, '.git/MERGE_HEAD'))
  writeFileSync(path.join(user.dir, '.git/HEAD'), user.git('rev-parse', 'main'))
  const detached = fingerprint(user)
  await expect(repo.start({ task: 'T1', isolation: 'branch' })).rejects.toMatchObject({ code: 'WT_010' })
  expect(fingerprint(user)).toEqual(detached)
  expect(await repo.list()).toEqual([])
})

test('L12: a repository inside the checkout stays where it is, and is no work of the agent’s', async () => {
  const user = dirtyRepo()
  mkdirSync(path.join(user.dir, 'inner'))
  user.git('init', '--quiet', 'inner')
  user.write('inner/x', 'inner\n')
  const before = fingerprint(user)
  const { repo } = await worked(user)
  const { preview } = await repo.accept({ task: 'T1', dryRun: true })
  expect(preview?.files.map((file) => file.path)).toEqual(['f', 'made/by/agent.txt'])
  await repo.reject({ task: 'T1' })
  expect(fingerprint(user)).toEqual(before)
})

test('L12: while one is at work in the checkout, another task’s patch is refused there', async () => {
  const user = testRepo()
  const repo = opened(user)
  const { task } = await repo.start({ task: 'W' })
  writeFileSync(path.join(task.path, 'w.txt'), 'w\n')
  await repo.start({ task: 'T1', isolation: 'branch' })
  await expect(repo.accept({ task: 'W' })).rejects.toMatchObject({ code: 'WT_002' })
  await repo.reject({ task: 'T1' })
  await repo.accept({ task: 'W' })
  expect(user.git('status', '--porcelain')).toBe('?? w.txt\n')
})

test('L12, I1: on the command line', async () => {
  const user = dirtyRepo()
  const before = fingerprint(user)
  expect((await offshoot(user, 'start', 'T1', '--isolation', 'branch', '--json')).json).toMatchObject({
    ok: true,
    task: { isolation: 'branch', path: user.dir },
  })
  user.write('f', lines([18, 'agent']))
  expect((await offshoot(user, 'checkpoint', '--tool', 'Edit', '--json')).json).toMatchObject({
    created: true,
  })
  expect((await offshoot(user, 'reject', 'T1', '--json')).code).toBe(0)
  expect(fingerprint(user)).toEqual(before)
})

test('L12: what was staged comes back, although garbage was collected meanwhile', async () => {
  const user = dirtyRepo()
  const staged = user.git('show', ':both')
  const { repo } = await worked(user)
  user.git('reflog', 'expire', '--expire=now', '--all')
  user.git('gc', '--quiet', '--prune=now')
  await repo.reject({ task: 'T1' })
  expect(user.git('show', ':both')).toBe(staged)
  expect(user.git('fsck', '--no-dangling')).toBe('')
  await repo.undo()
  user.git('gc', '--quiet', '--prune=now')
  await repo.reject({ task: 'T1' })
  expect(user.git('show', ':both')).toBe(staged)
})

test('A8: update --dirty of a task in the checkout itself is refused, and the work stays', async () => {
  const user = testRepo({ f: lines() })
  await offshoot(user, 'start', 'T1', '--isolation', 'branch')
  user.write('f', lines([2, 'agent']))
  const { code, json } = await offshoot(user, 'update', 'T1', '--dirty', '--json')
  expect([code, json.error.code]).toEqual([2, 'WT_019'])
  expect((await offshoot(user, 'update', 'T1')).code).toBe(0)
  expect(readFileSync(path.join(user.dir, 'f'), 'utf8')).toBe(lines([2, 'agent']))
})

test('I5: an index that is not solved keeps a task out of the checkout, with a hint that fits', async () => {
  const user = testRepo({ f: lines() })
  user.write('f', lines([2, 'stashed']))
  user.git('stash')
  user.write('f', lines([2, 'mine']))
  user.git('commit', '--quiet', '--all', '--message=mine')
  expect(() => user.git('stash', 'pop')).toThrow(/Command failed/)
  const { code, json } = await offshoot(user, 'start', 'T1', '--isolation', 'branch', '--json')
  expect([code, json.error.code]).toEqual([5, 'WT_004'])
  expect(json.error.hint).toMatch(/git status.*leave --isolation branch out/)
})
