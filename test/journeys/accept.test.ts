import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

const lines = (...changes: [number, string][]) => {
  const all = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`)
  for (const [n, text] of changes) all[n - 1] = text
  return `${all.join('\n')}\n`
}

/** A repository with a task in which an agent has made two steps: `f` edited at the end, `new` added. */
async function worked(files: Record<string, string> = { f: lines(), other: 'other\n' }) {
  const user = testRepo(files)
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  const repo = openRepo(user.dir, { env: user.env })
  onTestFinished(() => repo.close())
  const { task } = await repo.start({ task: 'T1', title: 'Do the work' })
  const at = (name: string) => path.join(task.path, name)
  writeFileSync(at('f'), lines([18, 'agent']))
  await repo.checkpoint({ task: 'T1', tool: 'Edit', summary: 'the end of f' })
  writeFileSync(at('new'), 'new\n')
  await repo.checkpoint({ task: 'T1', tool: 'Write', summary: 'new' })
  const read = (name: string) => readFileSync(path.join(user.dir, name), 'utf8')
  return { user, repo, task, at, read }
}

test('A2: squash makes one commit of the user’s on the branch, and its checkout follows', async () => {
  const { user, read } = await worked()
  // What the environment says counts more than the config, as for git.
  const { GIT_AUTHOR_NAME: _, GIT_AUTHOR_EMAIL: __, ...env } = user.env
  const repo = openRepo(user.dir, { env })
  onTestFinished(() => repo.close())
  writeFileSync(path.join(user.dir, 'other'), 'dirty\n')
  const before = checkoutState(user)
  const { accepted, operation } = await repo.accept({ task: 'T1', as: 'squash', message: 'All of it' })
  expect(user.git('log', '--format=%s %an <%ae>', '-2')).toBe(
    'All of it Ursula <ursula@example.com>\nFirst commit User <user@example.com>\n',
  )
  expect(accepted).toMatchObject({ as: 'squash', onto: 'main', commit: user.git('rev-parse', 'HEAD').trim() })
  expect(user.git('status', '--porcelain')).toBe(' M other\n')
  expect([read('f'), read('new'), read('other')]).toEqual([lines([18, 'agent']), 'new\n', 'dirty\n'])
  expect(user.git('branch', '--list', 'offshoot/*')).toBe('')
  await repo.undo(operation)
  expect(checkoutState(user)).toEqual(before)
})

test('A2: who the user is may be in the environment alone, as for git commit', async () => {
  const user = testRepo()
  const named = withEnv(user, { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' })
  const repo = library(named)
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'new'), 'new\n')
  await repo.accept({ task: 'T1', as: 'squash' })
  expect(user.git('log', '--format=%an <%ae> %cn <%ce>', '-1')).toBe(
    'Ada <ada@example.com> User <user@example.com>\n',
  )
})

test('A2: a git that does not know who the user is makes no commit, and nothing changes', async () => {
  const user = testRepo()
  const { GIT_AUTHOR_NAME: _, GIT_AUTHOR_EMAIL: __, ...env } = user.env
  user.git('config', '--global', 'user.useConfigOnly', 'true')
  const repo = library({ ...user, env })
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'new'), 'new\n')
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({ code: 'WT_020' })
  expect(checkoutState(user)).toEqual(before)
})

test('A2: merge joins the published steps; rebase replays them, one commit each', async () => {
  const { user, repo } = await worked()
  user.git('commit', '-q', '--allow-empty', '-m', 'moved on')
  const merged = await repo.accept({ task: 'T1', as: 'merge' })
  expect(user.git('log', '--format=%s', '--first-parent')).toBe(
    'Merge the work of T1\nmoved on\nFirst commit\n',
  )
  expect(user.git('log', '--format=%s', 'HEAD^1..HEAD^2')).toBe(
    'AI Tool: Write - new\nAI Tool: Edit - the end of f\n',
  )
  await repo.undo(merged.operation)
  await repo.accept({ task: 'T1', as: 'rebase' })
  expect(user.git('log', '--format=%s')).toBe(
    'AI Tool: Write - new\nAI Tool: Edit - the end of f\nmoved on\nFirst commit\n',
  )
  expect(user.git('status', '--porcelain')).toBe('')
})

test('K1: a step of a tool is named after it; what the user changed, and a verb of the user’s, is not', async () => {
  const { user, repo, at } = await worked()
  writeFileSync(at('mine'), 'mine\n')
  await repo.checkpoint({ task: 'T1', summary: 'my own idea' })
  await repo.rewind({ task: 'T1', to: 1 })
  writeFileSync(at('mine'), 'again\n')
  await repo.accept({ task: 'T1', as: 'rebase' })
  expect(user.git('log', '--format=%s').split('\n')).toEqual([
    'Hand edit - before the accept',
    'Rewind to step 1',
    'Hand edit - my own idea',
    'AI Tool: Write - new',
    'AI Tool: Edit - the end of f',
    'First commit',
    '',
  ])
})

test('A2: rebase replays the agent’s own commits, and what it did not commit as one more', async () => {
  const { user, repo } = await worked()
  const { task } = await repo.start({ task: 'T2' })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: task.path, env: user.env })
  for (const name of ['one', 'two']) {
    writeFileSync(path.join(task.path, name), name)
    git('add', '.')
    git('commit', '-qm', `Agent: ${name}`)
  }
  const { operation } = await repo.accept({ task: 'T2', as: 'rebase' })
  expect(user.git('log', '--format=%s')).toBe('Agent: two\nAgent: one\nFirst commit\n')
  await repo.undo(operation)
  writeFileSync(path.join(task.path, 'three'), 'three')
  await repo.accept({ task: 'T2', as: 'rebase' })
  expect(user.git('log', '--format=%s')).toBe(
    'What T2 did not commit\nAgent: two\nAgent: one\nFirst commit\n',
  )
  expect(user.git('show', '--format=', '--name-only', 'HEAD')).toBe('three\n')
})

test('A2: keep-branch keeps the branch with every step, and the folder goes', async () => {
  const { user, repo, task } = await worked()
  const { operation } = await repo.accept({ task: 'T1', as: 'keep-branch' })
  expect(existsSync(task.path)).toBe(false)
  expect(user.git('log', '--format=%s', 'main..offshoot/T1')).toContain('AI Tool: Write - new')
  expect((await repo.find('T1'))?.state).toBe('kept')
  await repo.undo(operation)
  expect(readFileSync(path.join(task.path, 'new'), 'utf8')).toBe('new\n')
})

test('a branch that is checked out nowhere gets its commit, and no working tree is touched', async () => {
  const { user, repo } = await worked()
  user.git('branch', 'release')
  writeFileSync(path.join(user.dir, 'f'), 'all mine\n')
  const before = checkoutState(user)
  await repo.accept({ task: 'T1', as: 'squash', onto: 'release' })
  expect(user.git('show', 'release:new')).toBe('new\n')
  expect(checkoutState(user).files).toEqual(before.files)
  expect(checkoutState(user).index).toBe(before.index)
})

test('A3: own changes in a path that a commit strategy would update are a conflict; nothing is written', async () => {
  const { user, repo } = await worked()
  writeFileSync(path.join(user.dir, 'f'), lines([1, 'mine']))
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: [{ path: 'f', kind: 'changed' }] },
  })
  expect(checkoutState(user)).toEqual(before)
  expect((await repo.find('T1'))?.state).toBe('active')
})

test('A3: on the command line a conflict is exit code 4, listed in JSON, and nothing is written', async () => {
  const { user } = await worked()
  writeFileSync(path.join(user.dir, 'f'), lines([18, 'mine']))
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', '--json')
  expect(code).toBe(4)
  expect(json).toMatchObject({
    ok: false,
    error: { code: 'WT_011', data: { conflicts: [{ path: 'f', kind: 'content' }] } },
  })
  expect(checkoutState(user)).toEqual(before)
})

test('A3: --conflicts markers writes them as git does, and undo takes them away', async () => {
  const { user, repo, read } = await worked()
  writeFileSync(path.join(user.dir, 'f'), lines([18, 'mine']))
  const before = checkoutState(user)
  const { operation } = await repo.accept({ task: 'T1', conflicts: 'markers' })
  expect(read('f')).toContain('<<<<<<< yours\nmine\n=======\nagent\n>>>>>>> T1\n')
  await repo.undo(operation)
  expect(checkoutState(user)).toEqual(before)
})

test('P3: an empty id is wrong usage, and nothing is taken back', async () => {
  const { user, repo, read } = await worked()
  await repo.accept({ task: 'T1' })
  expect((await offshoot(user, 'undo', '')).code).toBe(2)
  await expect(repo.undo('')).rejects.toMatchObject({ code: 'WT_019' })
  await expect(repo.task('').show()).rejects.toMatchObject({ code: 'WT_019' })
  expect(read('new')).toBe('new\n')
})

test('A5: --only lands chosen paths; the task stays open, and the next accept lands the rest', async () => {
  const { user, repo, read, at } = await worked()
  await repo.accept({ task: 'T1', only: ['new'] })
  expect(user.git('status', '--porcelain')).toBe('?? new\n')
  expect((await repo.find('T1'))?.state).toBe('active')
  appendFileSync(path.join(user.dir, 'new'), 'more of mine\n')
  writeFileSync(at('later'), 'later\n')
  await repo.accept({ task: 'T1' })
  expect([read('f'), read('new'), read('later')]).toEqual([
    lines([18, 'agent']),
    'new\nmore of mine\n',
    'later\n',
  ])
  expect((await repo.find('T1'))?.state).toBe('accepted')
})

test('A5: paths are seen from the folder that the user stands in, as git sees them', async () => {
  const { user, repo, at, read } = await worked({ f: lines(), 'd/x': 'x\n', x: 'x\n' })
  for (const name of ['d/x', 'x']) writeFileSync(at(name), 'agent\n')
  const below = inFolder(user, path.join(user.dir, 'd'))
  expect((await offshoot(below, 'accept', 'T1', '--only', 'x')).code).toBe(0)
  expect([read('d/x'), read('x')]).toEqual(['agent\n', 'x\n'])
  expect((await offshoot(below, 'accept', 'T1', '--only', '../new', '--only', ':/f')).code).toBe(0)
  expect([read('new'), read('f'), read('x')]).toEqual(['new\n', lines([18, 'agent']), 'x\n'])
  const { code, json } = await offshoot(below, 'accept', 'T1', '--only', '../../x', '--json')
  expect([code, json.error.code]).toEqual([2, 'WT_006'])
  await repo.accept({ task: 'T1', only: ['.'] })
  expect(read('x')).toBe('agent\n')
})

test('A5: --step lands chosen steps; a step that builds on one left out is a conflict', async () => {
  const { user, repo, at, read } = await worked()
  writeFileSync(at('new'), 'newer\n')
  await repo.checkpoint({ task: 'T1' })
  await expect(repo.accept({ task: 'T1', steps: [3] })).rejects.toMatchObject({ code: 'WT_011' })
  expect((await repo.accept({ task: 'T1', steps: [3], dryRun: true })).preview).toMatchObject({
    clean: false,
    conflicts: [{ path: 'new' }],
  })
  await repo.accept({ task: 'T1', steps: [2, 3] })
  expect(read('new')).toBe('newer\n')
  expect(user.git('status', '--porcelain')).toBe('?? new\n')
})

test('A6: --keep keeps the task open; after more work only what is new lands', async () => {
  const { user, repo, at, read } = await worked()
  await repo.accept({ task: 'T1', as: 'squash', keep: true })
  user.git('revert', '--no-edit', 'HEAD')
  writeFileSync(at('more'), 'more\n')
  await repo.accept({ task: 'T1', as: 'squash', keep: true })
  expect(read('more')).toBe('more\n')
  expect(existsSync(path.join(user.dir, 'new'))).toBe(false)
})

test('A8: update brings the target into the workspace; conflicts solved there land cleanly', async () => {
  const { user, repo, at, read } = await worked()
  writeFileSync(path.join(user.dir, 'f'), lines([18, 'mine']))
  user.git('commit', '-qam', 'mine')
  await expect(repo.update({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_011' })
  const { conflicts } = await repo.update({ task: 'T1', conflicts: 'markers' })
  expect(conflicts).toEqual([{ path: 'f', kind: 'content' }])
  writeFileSync(at('f'), lines([18, 'both']))
  await repo.accept({ task: 'T1' })
  expect([read('f'), read('new')]).toEqual([lines([18, 'both']), 'new\n'])
  expect(user.git('status', '--porcelain')).toBe(' M f\n?? new\n')
})

test('A8: update prints the command that undoes it, and nothing to undo where it did nothing', async () => {
  const { user } = await worked()
  expect((await offshoot(user, 'update', 'T1')).stdout).not.toContain('undo')
  user.write('brought', 'x\n')
  user.git('add', 'brought')
  user.git('commit', '--quiet', '--message=brought')
  const { stdout } = await offshoot(user, 'update', 'T1')
  const [, operation = ''] = /^ {2}undo: offshoot undo (\w{6})$/m.exec(stdout) ?? []
  expect(await offshoot(user, 'undo', operation)).toMatchObject({ code: 0 })
})

test('A8: update --dirty takes the checkout as it is, and accept then lands only the agent’s part', async () => {
  const { user, repo, at, read } = await worked()
  writeFileSync(path.join(user.dir, 'f'), lines([2, 'mine']))
  writeFileSync(path.join(user.dir, 'untracked'), 'mine\n')
  await repo.update({ task: 'T1', dirty: true })
  expect(readFileSync(at('f'), 'utf8')).toBe(lines([2, 'mine'], [18, 'agent']))
  expect(readFileSync(at('untracked'), 'utf8')).toBe('mine\n')
  const { preview } = await repo.accept({ task: 'T1', dryRun: true })
  expect(preview?.files.map((file) => file.path)).toEqual(['f', 'new'])
  await repo.accept({ task: 'T1' })
  expect(read('f')).toBe(lines([2, 'mine'], [18, 'agent']))
})

test('P3: undo keeps what the user edited since, and refuses where it overlaps', async () => {
  const { user, repo, read } = await worked()
  const { operation } = await repo.accept({ task: 'T1' })
  writeFileSync(path.join(user.dir, 'f'), lines([2, 'mine'], [18, 'agent']))
  await repo.undo(operation)
  expect(read('f')).toBe(lines([2, 'mine']))
  const again = await repo.accept({ task: 'T1' })
  writeFileSync(path.join(user.dir, 'f'), lines([18, 'mine over agent']))
  const before = checkoutState(user)
  // It names the operation, which the user may not have, and where the file is.
  await expect(repo.undo()).rejects.toMatchObject({
    code: 'WT_011',
    message: `accept ${again.operation?.slice(0, 6)} of T1 cannot be undone: conflict in f (content), below ${user.dir}. Nothing was written.`,
    path: user.dir,
    data: { conflicts: [{ path: 'f', kind: 'content' }] },
  })
  expect(checkoutState(user)).toEqual(before)
})

test('P3: an undo can be undone: redo', async () => {
  const { user, repo } = await worked()
  await repo.accept({ task: 'T1', as: 'squash' })
  const landed = checkoutState(user)
  const undone = await repo.undo()
  await repo.undo(undone.operation)
  expect(checkoutState(user)).toEqual(landed)
  expect((await repo.find('T1'))?.state).toBe('accepted')
  expect((await repo.ops()).map(({ verb, undone }) => [verb, undone])).toEqual([
    ['undo', false],
    ['undo', true],
    ['accept', false],
  ])
})

test('P3: a branch that moved on since makes undo say what overlaps', async () => {
  const { user, repo } = await worked()
  const { operation } = await repo.accept({ task: 'T1', as: 'squash' })
  user.git('commit', '-q', '--allow-empty', '-m', 'on top')
  await expect(repo.undo(operation)).rejects.toMatchObject({
    code: 'WT_011',
    message: `accept ${operation?.slice(0, 6)} of T1 cannot be undone: refs/heads/main is not where the operation left it.`,
  })
})

test('R1: reject leaves the checkout byte-identical; undo brings folder, branch and record back', async () => {
  const { user, repo, task, at } = await worked()
  writeFileSync(at('unsaved'), 'unsaved\n')
  const before = checkoutState(user)
  const tip = user.git('rev-parse', 'offshoot/T1')
  const { operation } = await repo.reject({ task: 'T1' })
  expect(checkoutState(user)).toEqual(before)
  expect(existsSync(task.path)).toBe(false)
  expect(user.git('branch', '--list', 'offshoot/*')).toBe('')
  await repo.undo(operation)
  expect(readFileSync(at('unsaved'), 'utf8')).toBe('unsaved\n')
  expect(user.git('rev-parse', 'offshoot/T1')).toBe(tip)
  expect(user.git('worktree', 'list')).toContain(task.path)
  expect((await repo.find('T1'))?.state).toBe('active')
})

test('a link that leads out, a submodule and a secret are refused unless allowed; what runs code is named', async () => {
  const { user, repo, at, read } = await worked()
  symlinkSync('/etc/passwd', at('passwd'))
  writeFileSync(at('.env'), 'TOKEN=1\n')
  mkdirSync(at('.husky'))
  writeFileSync(at('.husky/pre-commit'), 'echo\n')
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_017',
    data: { refused: [{ path: '.env' }, { path: 'passwd' }] },
  })
  expect(checkoutState(user)).toEqual(before)
  const { preview } = await repo.accept({ task: 'T1', dryRun: true })
  expect(preview?.runsCode).toEqual(['.husky/pre-commit'])
  await repo.accept({ task: 'T1', allow: ['.env', 'passwd'] })
  expect(read('.env')).toBe('TOKEN=1\n')
})

test('a lock that the user’s git holds is respected, and named', async () => {
  const { user, repo } = await worked()
  const lock = path.join(user.dir, '.git', 'index.lock')
  writeFileSync(lock, '')
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({
    code: 'WT_012',
    path: lock,
  })
  rmSync(lock)
  expect(checkoutState(user)).toEqual(before)
})

const converting: Record<string, { attributes: string; config?: Record<string, string>; raw: Buffer }> = {
  'eol=crlf': { attributes: '*.x eol=crlf\n', raw: Buffer.from('one\r\ntwo\r\n') },
  'a filter': {
    attributes: '*.x filter=rot\n',
    config: { 'filter.rot.clean': 'tr a-z n-za-m', 'filter.rot.smudge': 'tr a-z n-za-m' },
    raw: Buffer.from('secret words\n'),
  },
  'UTF-16': {
    attributes: '*.x working-tree-encoding=UTF-16LE-BOM\n',
    raw: Buffer.from('\ufeffone\ntwo\n', 'utf16le'),
  },
}

test.each(
  Object.entries(converting).flatMap(([name, how]) =>
    (['patch', 'squash', 'merge', 'rebase'] as const).map((as) => ({ name, as, ...how })),
  ),
)(
  '$name comes through $as: raw in the checkout, converted in the commit',
  async ({ as, attributes, config, raw }) => {
    const { user, repo } = await worked({ f: lines(), '.gitattributes': attributes })
    for (const [key, value] of Object.entries(config ?? {})) user.git('config', '--global', key, value)
    const { task } = await repo.start({ task: 'T2' })
    writeFileSync(path.join(task.path, 'file.x'), raw)
    await repo.accept({ task: 'T2', as })
    expect(readFileSync(path.join(user.dir, 'file.x'))).toEqual(raw)
    user.git('add', '.')
    const stored = user.git('ls-files', '--stage', 'file.x').split(' ')[1]
    if (as !== 'patch') expect(user.git('status', '--porcelain')).toBe('')
    expect(stored).toBe(user.git('hash-object', 'file.x').trim())
  },
)

test('P3: a rewind is an operation: undo puts the workspace forth again, with what was done since', async () => {
  const { repo, at } = await worked()
  const text = (name: string) => readFileSync(at(name), 'utf8')
  const { operation } = await repo.rewind({ task: 'T1', to: 0 })
  expect([text('f'), existsSync(at('new'))]).toEqual([lines(), false])
  writeFileSync(at('f'), lines([2, 'since']))
  const undone = await repo.undo()
  expect([text('f'), text('new')]).toEqual([lines([2, 'since'], [18, 'agent']), 'new\n'])
  await repo.undo(undone.operation)
  expect([text('f'), existsSync(at('new'))]).toEqual([lines([2, 'since']), false])
  writeFileSync(at('f'), lines([18, 'otherwise']))
  await expect(repo.undo(operation)).rejects.toMatchObject({ code: 'WT_011' })
  expect(text('f')).toBe(lines([18, 'otherwise']))
  expect((await repo.log('T1')).map(({ tool }) => tool)).toEqual([
    'Edit',
    'Write',
    'rewind',
    'checkpoint',
    'undo',
    'undo',
    'checkpoint',
  ])
})

test('P3: an update is an operation too', async () => {
  const { user, repo, at } = await worked()
  writeFileSync(path.join(user.dir, 'other'), 'moved on\n')
  user.git('commit', '-q', '-am', 'moved on')
  await repo.update({ task: 'T1' })
  expect(readFileSync(at('other'), 'utf8')).toBe('moved on\n')
  await repo.undo()
  expect([readFileSync(at('other'), 'utf8'), readFileSync(at('f'), 'utf8')]).toEqual([
    'other\n',
    lines([18, 'agent']),
  ])
  expect(await repo.ops()).toMatchObject([{ verb: 'undo' }, { verb: 'update', undone: true }])
})

test('A5: of a part that lands as a merge, git takes nothing else for merged', async () => {
  const { user, repo } = await worked()
  await repo.accept({ task: 'T1', as: 'merge', only: ['new'] })
  expect(user.git('log', '--format=%s', 'main^2', '--not', 'main^1')).toBe('A part of T1\n')
  expect(user.git('merge-base', '--all', 'main', 'offshoot/T1')).toBe(user.git('rev-parse', 'main^1'))
  await repo.accept({ task: 'T1', as: 'merge' })
  expect(user.git('show', 'main:f')).toBe(lines([18, 'agent']))
})

test('P3: an undo brings a deleted file back with its permissions', async () => {
  const { user, repo, at } = await worked()
  const file = path.join(user.dir, 'other')
  chmodSync(file, 0o600)
  rmSync(at('other'))
  for (const as of ['patch', 'squash'] as const) {
    await repo.accept({ task: 'T1', as })
    expect(existsSync(file)).toBe(false)
    await repo.undo()
    expect(statSync(file).mode & 0o777).toBe(0o600)
  }
})
