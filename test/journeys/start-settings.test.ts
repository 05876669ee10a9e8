/** Where workspaces go, how they are called, and what of the user's git reaches them. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, commitFile, inFolder, library, linkedWorktrees, withEnv } from '../support/workspace.ts'

function configured(yaml: string, files: Record<string, string> = {}): TestRepo {
  return testRepo({ 'a.txt': 'one\n', '.offshoot.yaml': yaml, ...files })
}

test('L4: a base inside the repository hides itself, so that git status stays as it was', async () => {
  const repo = configured('workspace:\n  base: .wt\n')
  repo.write('new.txt', 'untracked\n')
  const before = fingerprint(repo, ['.wt'])
  const { task } = await library(repo).start({ task: 'T1' })
  expect(path.dirname(task.path)).toBe(path.join(repo.dir, '.wt'))
  expect(readFileSync(path.join(repo.dir, '.wt/.gitignore'), 'utf8')).toBe('*\n')
  expect(fingerprint(repo, ['.wt'])).toEqual(before)
  repo.git('add', '--all')
  expect(repo.git('ls-files', '.wt')).toBe('')
})

test('L4: a base inside the repository is that of the main checkout, also for a start in a workspace', async () => {
  const repo = configured('workspace:\n  base: .wt\n')
  const { task: first } = await library(repo).start({ task: 'T1' })
  const { task: second } = await library(inFolder(repo, first.path)).start({ task: 'T2' })
  expect(path.dirname(second.path)).toBe(path.join(repo.dir, '.wt'))
  await library(repo).remove({ task: 'T1', force: true })
  expect(linkedWorktrees(repo).map((found) => found.path)).toEqual([second.path])
  expect(existsSync(path.join(second.path, 'a.txt'))).toBe(true)
})

test('L4: ~ in the base is the user’s home, and a folder outside the repository gets no .gitignore', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_WORKSPACE_BASE: '~/wt' })
  const { task } = await library(repo).start({ task: 'T1' })
  expect(path.dirname(task.path)).toBe(path.join(repo.home, 'wt'))
  expect(existsSync(path.join(repo.home, 'wt/.gitignore'))).toBe(false)
})

test('L4: a base outside the repository may be reached by a symlink', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_WORKSPACE_BASE: '../link' })
  mkdirSync(path.join(repo.home, 'big-disk'))
  symlinkSync('big-disk', path.join(repo.home, 'link'))
  const { task } = await library(repo).start({ task: 'T1' })
  expect(path.dirname(task.path)).toBe(path.join(repo.home, 'big-disk'))
})

test('L4: a folder of the repository that holds other things is not taken as the base', async () => {
  const repo = configured('workspace:\n  base: src\n', { 'src/main.txt': 'main\n' })
  const before = fingerprint(repo)
  await expect(library(repo).start({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_001',
    path: path.join(repo.dir, 'src'),
  })
  expect(fingerprint(repo)).toEqual(before)
})

test.each(['.', './', 'sub/..'])(
  'L4: the root of the repository is not taken as the base: %s',
  async (base) => {
    const repo = configured(`workspace:\n  base: ${base}\n`)
    const before = fingerprint(repo)
    await expect(library(repo).start({ task: 'T1' })).rejects.toMatchObject({
      code: 'WT_001',
      path: repo.dir,
    })
    expect(fingerprint(repo)).toEqual(before)
  },
)

test.each([
  ['ai/session-{id8}', /^ai\/session-[0-9a-z]{8}$/],
  ['supervisor/{task}', /^supervisor\/T1$/],
  ['acode-task-{task}', /^acode-task-T1$/],
  ['kandev/{task}', /^kandev\/T1$/],
])('L3: the branch can be called %s', async (name, expected) => {
  const repo = configured(`branch:\n  name: '${name}'\nworkspace:\n  name: 'wt-{task}-{id8}'\n`)
  const { task } = await library(repo).start({ task: 'T1' })
  expect(task.branch).toMatch(expected)
  expect(path.basename(task.path)).toMatch(/^wt-T1-[0-9a-z]{8}$/)
  expect(branches(repo)).toContain(task.branch)
  expect(linkedWorktrees(repo)[0]).toMatchObject({ path: task.path, branch: task.branch })
})

test('L3: a workspace name without a time is given once, also to tasks of one id after another', async () => {
  const repo = configured("workspace:\n  name: '{task}'\n")
  const work = library(repo)
  const names: string[] = []
  for (let n = 0; n < 3; n++) {
    names.push(path.basename((await work.start({ task: 'T1' })).task.path))
    await work.remove({ task: 'T1' })
  }
  expect(names).toEqual(['T1', 'T1-2', 'T1-3'])
})

test('I6: a variable overrules the repository’s file, and OFFSHOOT_DISABLED switches start off', async () => {
  const repo = configured("branch:\n  name: 'file/{task}'\n")
  const { task } = await library(withEnv(repo, { OFFSHOOT_BRANCH_NAME: 'variable/{task}' })).start({
    task: 'T1',
  })
  expect(task.branch).toBe('variable/T1')
  const off = await offshoot(withEnv(repo, { OFFSHOOT_DISABLED: '1' }), 'start', 'T2', '--json')
  expect(off).toMatchObject({ code: 5, json: { ok: false, error: { code: 'WT_017' } } })
})

test('L1: the workspace has the user’s own line endings and filters, as git would check it out', async () => {
  const repo = testRepo({
    'a.txt': 'one\ntwo\n',
    'b.up': 'shout\n',
    '.gitattributes': '*.txt text\n*.up filter=upper\n',
  })
  writeFileSync(
    path.join(repo.home, '.gitconfig'),
    '[core]\n\teol = crlf\n[filter "upper"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n\trequired = true\n',
  )
  const work = library(repo)
  const { task } = await work.start({ task: 'T1' })
  expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
  expect(readFileSync(path.join(task.path, 'b.up'), 'utf8')).toBe('SHOUT\n')
  expect(await work.show('T1')).toMatchObject({ dirty: false })
  expect(inFolder(repo, task.path).git('status', '--porcelain')).toBe('')
})

test('L6: a filter that fails ends the start, and nothing is left of it', async () => {
  const repo = testRepo({ 'b.up': 'shout\n', '.gitattributes': '*.up filter=broken\n' })
  writeFileSync(
    path.join(repo.home, '.gitconfig'),
    '[filter "broken"]\n\tsmudge = false\n\tclean = cat\n\trequired = true\n',
  )
  const before = fingerprint(repo)
  const work = library(repo)
  await expect(work.start({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_020' })
  expect(fingerprint(repo)).toEqual(before)
  expect(linkedWorktrees(repo)).toEqual([])
  expect(branches(repo)).toEqual(['main'])
  expect(await work.list({ all: true })).toEqual([])
})

test('S1: no hook of the user’s runs, wherever it is configured', async () => {
  const repo = testRepo()
  const seen = path.join(repo.home, 'seen')
  mkdirSync(seen)
  const hooks = path.join(repo.home, 'hooks')
  mkdirSync(hooks)
  const events = ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-commit', 'post-commit']
  for (const folder of [path.join(repo.dir, '.git/hooks'), hooks]) {
    for (const event of events) {
      const file = path.join(folder, event)
      writeFileSync(file, `#!/bin/sh\necho "$0" >> '${seen}/${event}'\n`)
      chmodSync(file, 0o755)
    }
  }
  const run = async () => {
    const work = library(repo)
    await work.start({ task: 'T1' })
    await work.show('T1')
    await work.remove({ task: 'T1' })
  }
  await run()
  repo.git('config', 'core.hooksPath', hooks)
  await run()
  expect(readdirSync(seen)).toEqual([])
  commitFile(repo, 'b.txt', 'the hooks do run for the user\n')
  expect(readdirSync(seen)).toContain('post-index-change')
})

test('S1: what the environment says about git has no effect', async () => {
  const repo = testRepo()
  const other = testRepo({ 'other.txt': 'other\n' })
  const before = { repo: fingerprint(repo), other: fingerprint(other) }
  const misled = withEnv(repo, {
    GIT_DIR: path.join(other.dir, '.git'),
    GIT_WORK_TREE: other.dir,
    GIT_INDEX_FILE: path.join(other.dir, '.git/index'),
    GIT_OBJECT_DIRECTORY: path.join(other.dir, '.git/objects'),
    GIT_COMMON_DIR: path.join(other.dir, '.git'),
    GIT_NAMESPACE: 'elsewhere',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: other.dir,
    GIT_TRACE: path.join(repo.home, 'trace'),
    GIT_EXTERNAL_DIFF: 'false',
  })
  const started = await offshoot(misled, 'start', 'T1', '--json')
  expect(started).toMatchObject({ code: 0, stderr: '' })
  expect(await offshoot(misled, 'show', 'T1', '--json')).toMatchObject({ json: { task: { dirty: false } } })
  expect(readdirSync(started.json.task.path).toSorted()).toEqual(['.git', 'a.txt'])
  expect(linkedWorktrees(repo).map((found) => found.path)).toEqual([started.json.task.path])
  expect(await offshoot(misled, 'worktree', 'remove', '--task', 'T1', '--json')).toMatchObject({ code: 0 })
  expect({ repo: fingerprint(repo), other: fingerprint(other) }).toEqual(before)
  expect(existsSync(path.join(repo.home, 'trace'))).toBe(false)
})
