/** L16: submodules and files of Git LFS in a new workspace, without any network. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet']
const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8')

/** A repository with a submodule that has one of its own; what they came from is gone. */
function nested(): TestRepo {
  const innermost = testRepo({ 'deep.txt': 'deep\n' })
  const inner = testRepo({ 'lib.txt': 'lib\n' })
  inner.git(...allowed, 'add', innermost.dir, 'deep')
  inner.git('commit', '--quiet', '--message=Deep')
  const repo = testRepo()
  repo.git(...allowed, 'add', '--name', 'some/lib', inner.dir, 'vendor/lib')
  repo.git(...allowed, 'update', '--init', '--recursive')
  repo.git('commit', '--quiet', '--message=Lib')
  for (const gone of [inner, innermost]) rmSync(gone.dir, { recursive: true })
  return repo
}

test.each(['worktree', 'clone'] as const)(
  'L16, P1: in a %s submodules are checked out from the repository’s own copies, also those within, and nothing of the user’s changes',
  async (isolation) => {
    const repo = nested()
    const before = checkoutState(repo)
    const { task, submodules } = await library(repo).start({ task: 'T1', isolation })
    expect(submodules).toEqual({ filled: ['vendor/lib', 'vendor/lib/deep'], empty: [] })
    expect(read(task.path, 'vendor/lib/lib.txt')).toBe('lib\n')
    expect(read(task.path, 'vendor/lib/deep/deep.txt')).toBe('deep\n')
    const workspace = inFolder(repo, task.path)
    expect(workspace.git('status', '--porcelain', '--ignore-submodules=none')).toBe('')
    const lib = inFolder(repo, path.join(task.path, 'vendor/lib'))
    expect(lib.git('status', '--porcelain')).toBe('')
    expect(lib.git('rev-parse', 'HEAD')).toBe(
      inFolder(repo, path.join(repo.dir, 'vendor/lib')).git('rev-parse', 'HEAD'),
    )
    expect(lib.git('fsck', '--connectivity-only')).toBe('')
    expect(checkoutState(repo)).toEqual(before)
    // It has a git of its own: what happens in it does not reach the user's.
    lib.write('lib.txt', 'changed\n')
    lib.git('commit', '--quiet', '--all', '--message=Inside')
    expect(checkoutState(repo)).toEqual(before)
    const inside = lib.git('rev-parse', 'HEAD').trim()
    const loose = path.join('objects', inside.slice(0, 2), inside.slice(2))
    expect(existsSync(path.join(lib.git('rev-parse', '--absolute-git-dir').trim(), loose))).toBe(true)
    expect(existsSync(path.join(repo.dir, '.git/modules/some/lib', loose))).toBe(false)
  },
)

test('L16: objects are borrowed, not copied', async () => {
  const repo = nested()
  const { task } = await library(repo).start({ task: 'T1' })
  const gitDir = inFolder(repo, path.join(task.path, 'vendor/lib'))
    .git('rev-parse', '--absolute-git-dir')
    .trim()
  expect(gitDir).toBe(path.join(repo.dir, '.git/worktrees', path.basename(task.path), 'modules/some/lib'))
  const count = inFolder(repo, path.join(task.path, 'vendor/lib')).git('count-objects', '-v')
  expect(count).toMatch(/^count: 0$/m)
  expect(count).toMatch(/^in-pack: 0$/m)
})

test('L16: what the repository has not fetched is told, and the folder stays empty', async () => {
  const repo = nested()
  rmSync(path.join(repo.dir, '.git/modules/some/lib/modules'), { recursive: true })
  const partly = (await offshoot(repo, 'start', 'T1', '--json')).json
  expect(partly.submodules).toEqual({
    filled: ['vendor/lib'],
    empty: [{ path: 'vendor/lib/deep', why: 'the repository has not fetched it' }],
  })
  rmSync(path.join(repo.dir, '.git/modules'), { recursive: true })
  const { stdout, code } = await offshoot(repo, 'start', 'T2')
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('submodule vendor/lib is empty: the repository has not fetched it'),
  })
})

test('L16: a commit that the copy lacks is told, too', async () => {
  const repo = nested()
  const commit = repo.git('rev-parse', 'HEAD').trim()
  repo.git('update-index', '--cacheinfo', `160000,${commit},vendor/lib`)
  repo.git('commit', '--quiet', '--message=Ahead')
  const { submodules } = await library(repo).start({ task: 'T1' })
  expect(submodules?.empty).toEqual([
    { path: 'vendor/lib', why: `the repository has not fetched its commit ${commit.slice(0, 10)}` },
  ])
})

test('L16, S1: a name that leads elsewhere is not followed', async () => {
  const repo = nested()
  const text = read(repo.dir, '.gitmodules').replace('"some/lib"', '"../../../evil"')
  repo.write('.gitmodules', text)
  repo.git('commit', '--quiet', '--all', '--message=Evil')
  const { task, submodules } = await library(repo).start({ task: 'T1' })
  expect(submodules).toBeUndefined()
  expect(existsSync(path.join(task.path, 'vendor/lib/.git'))).toBe(false)
})

test('L16, L7, P3: the submodules of a workspace come back with it', async () => {
  const repo = nested()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  rmSync(task.path, { recursive: true })
  await lib.start({ task: 'T1' })
  expect(read(task.path, 'vendor/lib/lib.txt')).toBe('lib\n')
  writeFileSync(path.join(task.path, 'vendor/lib/lib.txt'), 'edited\n')
  const { operation } = await lib.reject({ task: 'T1' })
  await lib.undo(operation)
  expect(read(task.path, 'vendor/lib/lib.txt')).toBe('edited\n')
  expect(inFolder(repo, path.join(task.path, 'vendor/lib')).git('status', '--porcelain')).toBe(' M lib.txt\n')
})

test('L16, L14: a workspace that was made ahead has its submodules, too', async () => {
  const repo = nested()
  const lib = library(repo, { background: false, flags: { pool: { size: 1 } } })
  expect(await lib.pool()).toMatchObject({ made: 1 })
  const { task, submodules } = await lib.start({ task: 'T1' })
  expect(submodules?.filled).toEqual(['vendor/lib', 'vendor/lib/deep'])
  expect(read(task.path, 'vendor/lib/deep/deep.txt')).toBe('deep\n')
})

const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`

test('L16: a file of Git LFS comes by the user’s own filter; without one the answer says that it is only a pointer', async () => {
  const repo = testRepo({ '.gitattributes': '*.bin filter=lfs -text\n', 'a.bin': pointer, 'b.txt': pointer })
  const { stdout } = await offshoot(repo, 'start', 'T1')
  expect(stdout).toContain('a.bin: only a Git LFS pointer')
  expect((await offshoot(repo, 'start', 'T2', '--json')).json.pointers).toEqual(['a.bin'])
  repo.git('config', '--global', 'filter.lfs.smudge', 'echo content')
  repo.git('config', '--global', 'filter.lfs.clean', 'cat')
  const filtered = (await offshoot(repo, 'start', 'T3', '--json')).json
  expect([read(filtered.task.path, 'a.bin'), filtered.pointers]).toEqual(['content\n', undefined])
  expect(statSync(path.join(filtered.task.path, 'b.txt')).size).toBe(pointer.length)
})
