/** Cases that random edits found once, each as small as it could be made. */
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

const lines = (origin: string, change: Record<number, string> = {}) =>
  Array.from({ length: 12 }, (_, n) => `${change[n] ?? `${origin} line ${n}`}\n`).join('')

async function started(files: Record<string, string>, prepare?: (repo: TestRepo) => void) {
  const repo = testRepo(files)
  prepare?.(repo)
  repo.git('config', '--global', 'user.name', 'User')
  repo.git('config', '--global', 'user.email', 'user@example.com')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  const mine = (name: string) => path.join(repo.dir, name)
  const its = (name: string) => path.join(task.path, name)
  return { repo, lib, mine, its, read: (name: string) => readFileSync(mine(name), 'utf8') }
}

const commitStrategies = ['squash', 'merge', 'rebase'] as const

test.each(commitStrategies)(
  'A2, P3: a file became a folder and a folder a file, through %s and undo',
  async (as) => {
    const { repo, lib, its, read } = await started({ file: 'file\n', 'folder/a': 'a\n', 'folder/b/c': 'c\n' })
    rmSync(its('file'))
    mkdirSync(its('file'))
    writeFileSync(its('file/inside'), 'inside\n')
    rmSync(its('folder'), { recursive: true })
    writeFileSync(its('folder'), 'now a file\n')
    const before = checkoutState(repo)
    const { operation } = await lib.accept({ task: 'T1', as })
    expect([read('file/inside'), read('folder')]).toEqual(['inside\n', 'now a file\n'])
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('file/inside\nfolder\n')
    await lib.undo(operation)
    expect(checkoutState(repo)).toEqual(before)
  },
)

test('A3: what only the index has below a folder that became a file is in the way of a commit', async () => {
  const { repo, lib, mine, its } = await started({ 'folder/a': 'a\n' })
  rmSync(its('folder'), { recursive: true })
  writeFileSync(its('folder'), 'now a file\n')
  writeFileSync(mine('folder/staged'), 'staged\n')
  repo.git('add', '--all')
  rmSync(mine('folder/staged'))
  const before = checkoutState(repo)
  await expect(lib.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: [{ path: 'folder/staged', kind: 'changed' }] },
  })
  expect(checkoutState(repo)).toEqual(before)
})

test('A1: the user renamed the only file of a folder to the name of the folder, and the agent edited it', async () => {
  const { repo, lib, mine, its, read } = await started({ 'i/j': lines('j'), other: 'other\n' })
  writeFileSync(its('i/j'), lines('j', { 3: 'agent' }))
  renameSync(mine('i/j'), mine('draft'))
  rmSync(mine('i'), { recursive: true })
  renameSync(mine('draft'), mine('i'))
  const before = checkoutState(repo)
  const { operation } = await lib.accept({ task: 'T1' })
  expect(read('i')).toBe(lines('j', { 3: 'agent' }))
  await lib.undo(operation)
  expect(checkoutState(repo)).toEqual(before)
})

test('A1: the user renamed what the agent edited, and a folder of ignored files is where a staged file was', async () => {
  const { repo, lib, mine, its, read } = await started({ c: lines('c'), '.gitignore': '*.ign\n' })
  writeFileSync(its('c'), lines('c', { 5: 'agent' }))
  mkdirSync(its('i'))
  writeFileSync(its('i/j'), 'new\n')
  repo.write('i', lines('staged'))
  repo.git('add', 'i')
  rmSync(mine('i'))
  repo.write('i/z.ign', 'ignored\n')
  renameSync(mine('c'), mine('b'))
  const before = checkoutState(repo)
  const { operation } = await lib.accept({ task: 'T1', as: 'patch' })
  expect([read('b'), read('i/j'), read('i/z.ign')]).toEqual([
    lines('c', { 5: 'agent' }),
    'new\n',
    'ignored\n',
  ])
  await lib.undo(operation)
  expect(checkoutState(repo)).toEqual(before)
})

test('A3: the user renamed what the agent made a link, to a name that the agent has added: neither is dropped', async () => {
  const { repo, lib, mine, its } = await started({ old: lines('old') })
  rmSync(its('old'))
  symlinkSync('new', its('old'))
  writeFileSync(its('new'), lines('of the agent'))
  renameSync(mine('old'), mine('new'))
  const before = checkoutState(repo)
  await expect(lib.accept({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_011' })
  expect(checkoutState(repo)).toEqual(before)
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Rename')
  const renamed = checkoutState(repo)
  await expect(lib.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({ code: 'WT_011' })
  expect(checkoutState(repo)).toEqual(renamed)
})

test('A2: a rebase skips the step that the target has already, and goes on with the next', async () => {
  const { repo, lib, mine, its, read } = await started({ f: lines('f') })
  for (const text of ['one', 'two']) {
    writeFileSync(its('f'), lines('f', { 3: text }))
    await lib.checkpoint({ task: 'T1', tool: 'Edit', summary: text })
  }
  writeFileSync(mine('f'), lines('f', { 3: 'one' }))
  repo.git('commit', '--quiet', '--all', '--message=The same as step 1')
  expect((await lib.accept({ task: 'T1', as: 'rebase', dryRun: true })).preview?.clean).toBe(true)
  await lib.accept({ task: 'T1', as: 'rebase' })
  expect(read('f')).toBe(lines('f', { 3: 'two' }))
  expect(repo.git('log', '--format=%s')).toBe('AI Tool: Edit - two\nThe same as step 1\nFirst commit\n')
})

test('A3: a dry run of a rebase tells the conflict of a step that a later one takes back', async () => {
  const { repo, lib, mine, its } = await started({ f: lines('f') })
  for (const change of [{ 3: 'agent' }, {}, { 9: 'agent' }]) {
    writeFileSync(its('f'), lines('f', change))
    await lib.checkpoint({ task: 'T1' })
  }
  writeFileSync(mine('f'), lines('f', { 3: 'mine' }))
  repo.git('commit', '--quiet', '--all', '--message=Mine')
  expect((await lib.accept({ task: 'T1', as: 'rebase', dryRun: true })).preview?.clean).toBe(false)
  await expect(lib.accept({ task: 'T1', as: 'rebase' })).rejects.toMatchObject({ code: 'WT_011' })
  await lib.accept({ task: 'T1', as: 'squash' })
})

test('A8: after an update that solved a conflict, a rebase lands the work as one commit', async () => {
  const { repo, lib, mine, its, read } = await started({ f: lines('f') })
  writeFileSync(its('f'), lines('f', { 3: 'agent' }))
  await lib.checkpoint({ task: 'T1' })
  writeFileSync(mine('f'), lines('f', { 3: 'mine' }))
  repo.git('commit', '--quiet', '--all', '--message=Mine')
  await lib.update({ task: 'T1', conflicts: 'markers' })
  writeFileSync(its('f'), lines('f', { 3: 'both' }))
  await lib.accept({ task: 'T1', as: 'rebase' })
  expect(read('f')).toBe(lines('f', { 3: 'both' }))
  expect(repo.git('rev-list', '--count', 'HEAD')).toBe('3\n')
})

/** Edits a file in the second of its `git add`, and its size stays: git knows of it by the age of the index only. */
async function editInTheSecondOfAdd(repo: TestRepo, name: string, added: string, now: string) {
  const until = async (fits: (ms: number) => boolean) => {
    while (!fits(Date.now() % 1000)) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (;;) {
    await until((ms) => ms > 20 && ms < 200)
    const second = Math.floor(Date.now() / 1000)
    repo.write(name, added)
    repo.git('add', name)
    repo.write(name, now)
    if (Math.floor(Date.now() / 1000) === second) break
  }
  const second = Math.floor(Date.now() / 1000)
  await until(() => Math.floor(Date.now() / 1000) > second)
}

test('P1: an edit in the second of its git add is still seen by git after a commit landed', async () => {
  const { repo, lib, its } = await started({ f: 'f\n', mine: 'mine\n' })
  writeFileSync(its('f'), 'agent\n')
  await lib.checkpoint({ task: 'T1' })
  await editInTheSecondOfAdd(repo, 'mine', 'AAAA\n', 'BBBB\n')
  await lib.accept({ task: 'T1', as: 'squash' })
  expect(repo.git('status', '--porcelain')).toBe('MM mine\n')
})

test('A8: an edit in the second of its git add is in what update --dirty brings', async () => {
  const { repo, lib, its } = await started({ f: 'f\n', mine: 'mine\n' })
  await editInTheSecondOfAdd(repo, 'mine', 'AAAA\n', 'BBBB\n')
  await lib.update({ task: 'T1', dirty: true })
  expect(readFileSync(its('mine'), 'utf8')).toBe('BBBB\n')
})

test('P3: what was staged since in a path that landed as a commit makes undo refuse, and nothing is done', async () => {
  const { repo, lib, mine, its } = await started({ f: lines('f') })
  writeFileSync(its('f'), lines('f', { 3: 'agent' }))
  const { operation } = await lib.accept({ task: 'T1', as: 'squash' })
  writeFileSync(mine('f'), lines('f', { 3: 'agent', 9: 'staged since' }))
  repo.git('add', 'f')
  writeFileSync(mine('f'), lines('f', { 3: 'agent' }))
  const before = checkoutState(repo)
  await expect(lib.undo(operation)).rejects.toMatchObject({
    code: 'WT_011',
    data: { conflicts: [{ path: 'f', kind: 'changed' }] },
  })
  expect(checkoutState(repo)).toEqual(before)
})

test('P1, P3: a file that only its owner may read stays so, through patch, squash and undo', async () => {
  const { repo, lib, mine, its } = await started({ f: 'f\n', g: 'g\n' })
  writeFileSync(its('f'), 'agent\n')
  chmodSync(its('g'), 0o755)
  for (const name of ['f', 'g']) chmodSync(mine(name), 0o600)
  const before = checkoutState(repo)
  for (const as of ['patch', 'squash'] as const) {
    const { operation } = await lib.accept({ task: 'T1', as })
    expect([statSync(mine('f')).mode & 0o777, statSync(mine('g')).mode & 0o777]).toEqual([0o600, 0o700])
    await lib.undo(operation)
    expect(checkoutState(repo)).toEqual(before)
  }
})

test('L10, P3: with SHA-256 a deletion lands as a commit, and comes back', async () => {
  const { repo, lib, its } = await started({ f: 'f\n' }, (repo) => {
    rmSync(path.join(repo.dir, '.git'), { recursive: true })
    repo.git('init', '--quiet', '--initial-branch=main', '--object-format=sha256')
    repo.write('gone', 'gone\n')
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--message=First commit')
  })
  rmSync(its('gone'))
  const before = checkoutState(repo)
  const { operation } = await lib.accept({ task: 'T1', as: 'squash' })
  expect(repo.git('ls-files')).toBe('f\n')
  expect(repo.git('status', '--porcelain')).toBe('')
  await lib.undo(operation)
  expect(checkoutState(repo)).toEqual(before)
})

test('K5: a step whose tool names a path below what is a file now still holds that file', async () => {
  const { lib, its } = await started({ 'i/j': 'j\n' })
  rmSync(its('i'), { recursive: true })
  writeFileSync(its('i'), 'now a file\n')
  await lib.checkpoint({ task: 'T1' })
  writeFileSync(its('other'), 'other\n')
  await lib.checkpoint({ task: 'T1', files: ['i/j', 'other'] })
  const { files } = (await lib.log('T1'))[1] ?? {}
  expect(files).toEqual([{ path: 'other', status: 'added' }])
})

test('A3: both renamed a file alike, and the agent made another in its place: the renamed one is not written over', async () => {
  const { repo, lib, mine, its } = await started({ old: lines('old') })
  renameSync(mine('old'), mine('new'))
  renameSync(its('old'), its('new'))
  writeFileSync(its('old'), lines('another'))
  const renamed = checkoutState(repo)
  await expect(lib.accept({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_011' })
  expect(checkoutState(repo)).toEqual(renamed)
})

test.each(['patch', ...commitStrategies] as const)(
  'A3: a repository of the user’s in the folder of a new file is in the way of %s',
  async (as) => {
    const { repo, lib, its, mine } = await started({ f: 'f\n' })
    mkdirSync(its('nr/deep'), { recursive: true })
    writeFileSync(its('nr/deep/a'), 'of the agent\n')
    repo.git('init', '--quiet', 'nr')
    mkdirSync(mine('nr/deep'))
    writeFileSync(mine('nr/mine'), 'mine\n')
    const before = checkoutState(repo)
    await expect(lib.accept({ task: 'T1', as })).rejects.toMatchObject({
      code: 'WT_011',
      data: { conflicts: [{ path: 'nr', kind: 'untracked' }] },
    })
    expect(checkoutState(repo)).toEqual(before)
  },
)
