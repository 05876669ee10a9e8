import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { testRepo } from '../support/repo.ts'
import { readTree, recorded, stepCommits } from '../support/vault.ts'
import { inFolder, library } from '../support/workspace.ts'

const at = (task: { dir: string }) => (name: string) => path.join(task.dir, name)

describe('K5: what the rules ignore', () => {
  test('K5: is in no step, and named', async () => {
    const task = await recorded({
      files: { 'a.txt': 'one\n', '.gitignore': '*.log\nbuild/\n' },
      except: (file) => file.endsWith('.log') || file.startsWith('build/'),
    })
    const file = at(task)
    writeFileSync(file('run.log'), 'ignored')
    mkdirSync(file('build/deep'), { recursive: true })
    writeFileSync(file('build/deep/out.js'), 'ignored')
    await task.step({ created: false })
    writeFileSync(file('a.txt'), 'two\n')
    const { ignored } = await task.step({ ignored: true })
    expect(ignored.toSorted()).toEqual(['build/', 'run.log'])
    await task.rewindAll()
    // A rewind leaves alone what no step has.
    expect(readFileSync(file('run.log'), 'utf8')).toBe('ignored')
    expect(readFileSync(file('build/deep/out.js'), 'utf8')).toBe('ignored')
  })

  test.each([
    ['the list of the user', (home: string) => ['.config/git/ignore', home]],
    ['the list of the repository', () => ['.git/info/exclude', '']],
  ])('K5: %s counts', async (_, where) => {
    const task = await recorded({
      before: (repo) => {
        const [name = '', home] = where(repo.home)
        repo.write(home ? path.relative(repo.dir, path.join(home, name)) : name, '*.tmp\n')
      },
      except: (file) => file.endsWith('.tmp'),
    })
    writeFileSync(at(task)('x.tmp'), 'ignored')
    await task.step({ created: false })
    expect((await task.lib.checkpoint({ task: 'T1', files: ['x.tmp'] })).created).toBe(false)
    mkdirSync(at(task)('nested'))
    inFolder(task.repo, at(task)('nested')).git('init', '--quiet')
    writeFileSync(at(task)('nested/y.tmp'), 'ignored')
    writeFileSync(at(task)('nested/y.txt'), 'not ignored')
    await task.step()
  })

  test('K5: a .gitignore overrules the list of the repository, as in git', async () => {
    const task = await recorded({
      files: { '.gitignore': '!keep.tmp\n' },
      before: (repo) => repo.write('.git/info/exclude', '*.tmp\n'),
      except: (file) => file === 'x.tmp',
    })
    writeFileSync(at(task)('x.tmp'), 'ignored')
    writeFileSync(at(task)('keep.tmp'), 'kept')
    await task.step()
  })

  test('K5: a repository without any list of its own', async () => {
    const task = await recorded({
      before: (repo) => rmSync(path.join(repo.dir, '.git/info'), { recursive: true }),
    })
    writeFileSync(at(task)('a.txt'), 'two\n')
    await task.step()
  })

  test('K5: a rule that the agent writes hides nothing that a step has, until it is deleted', async () => {
    const task = await recorded({ files: { 'a.txt': 'one\n', 'base.dat': 'base\n' } })
    const file = at(task)
    writeFileSync(file('work.dat'), 'first\n')
    await task.step()
    writeFileSync(file('.gitignore'), '*\n')
    writeFileSync(file('work.dat'), 'second\n')
    writeFileSync(file('base.dat'), 'changed\n')
    const before = task.states.length
    // The rules hide the .gitignore itself.
    const taken = await task.lib.checkpoint({ task: 'T1' })
    expect(taken.checkpoint.files.map((one) => one.path)).toEqual(['base.dat', 'work.dat'])
    expect(taken.checkpoint.n).toBe(before)
    rmSync(file('work.dat'))
    rmSync(file('base.dat'))
    expect((await task.lib.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
      { path: 'base.dat', status: 'deleted' },
      { path: 'work.dat', status: 'deleted' },
    ])
    // Deleted and made again, they are new: now the rule counts.
    writeFileSync(file('work.dat'), 'third\n')
    writeFileSync(file('base.dat'), 'third\n')
    expect(await task.lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    expect(await task.lib.checkpoint({ task: 'T1', files: ['work.dat'] })).toMatchObject({ created: false })
  })

  test('K5: a path that stays in though it is ignored does so in a new process, too', async () => {
    const repo = testRepo()
    const first = library(repo)
    const { task } = await first.start({ task: 'T1' })
    const file = at({ dir: task.path })
    writeFileSync(file('work.dat'), 'first\n')
    await first.checkpoint({ task: 'T1' })
    writeFileSync(file('.gitignore'), '*.dat\n')
    await first.checkpoint({ task: 'T1' })
    await first.close()
    for (const content of ['second\n', 'third\n']) {
      const again = library(repo)
      writeFileSync(file('work.dat'), content)
      expect((await again.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
        { path: 'work.dat', status: 'modified' },
      ])
      await again.close()
    }
  })

  test('K6: a rewind to a step that has an ignored path brings it back and keeps it in', async () => {
    const task = await recorded({})
    const file = at(task)
    writeFileSync(file('work.dat'), 'first\n')
    await task.step()
    writeFileSync(file('.gitignore'), '*.dat\n')
    await task.step()
    rmSync(file('work.dat'))
    await task.step()
    await task.rewind(2)
    await task.step({ created: false })
    await task.rewindAll()
  })

  test('P2: an ignored file that is in the way of a rewind is set aside, time and again', async () => {
    const task = await recorded({})
    const file = at(task)
    writeFileSync(file('out.dat'), 'captured\n')
    mkdirSync(file('folder'))
    writeFileSync(file('folder/in.txt'), 'captured\n')
    await task.step()
    for (const round of ['one', 'two']) {
      rmSync(file('out.dat'))
      rmSync(file('folder'), { recursive: true })
      writeFileSync(file('.gitignore'), '*.dat\nfolder\n')
      await task.lib.checkpoint({ task: 'T1' })
      // Never captured: ignored when they are made.
      writeFileSync(file('out.dat'), `precious ${round}\n`)
      writeFileSync(file('folder'), `precious ${round}\n`)
      await task.lib.rewind({ task: 'T1', to: 1 })
      expect(readFileSync(file('out.dat'), 'utf8')).toBe('captured\n')
      expect(readFileSync(file('folder/in.txt'), 'utf8')).toBe('captured\n')
    }
    const aside = path.join(path.dirname(task.dir), '.trash', `${path.basename(task.dir)}.aside`)
    const { readdirSync } = await import('node:fs')
    const kept = readdirSync(aside, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(
        (entry) => `${entry.name}: ${readFileSync(path.join(entry.parentPath, entry.name), 'utf8').trim()}`,
      )
    expect(kept.toSorted()).toEqual([
      'folder: precious one',
      'folder: precious two',
      'out.dat: precious one',
      'out.dat: precious two',
    ])
  })
})

describe('K1: the files that a tool names', () => {
  test('K1: only they are captured; the rest waits for the next look', async () => {
    const task = await recorded({ files: { 'a.txt': 'one\n', 'b.txt': 'two\n' } })
    const file = at(task)
    writeFileSync(file('a.txt'), 'changed\n')
    writeFileSync(file('b.txt'), 'changed\n')
    writeFileSync(file('new.txt'), 'new\n')
    const named = await task.lib.checkpoint({ task: 'T1', files: ['a.txt', file('new.txt')] })
    expect(named.checkpoint.files).toEqual([
      { path: 'a.txt', status: 'modified' },
      { path: 'new.txt', status: 'added' },
    ])
    task.states.push({})
    const { checkpoint } = await task.step()
    expect(checkpoint.files).toEqual([{ path: 'b.txt', status: 'modified' }])
  })

  test('K1: one that it deleted is gone from the step', async () => {
    const task = await recorded({ files: { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' } })
    rmSync(at(task)('dir'), { recursive: true })
    await task.step({ files: ['dir/b.txt'] })
    rmSync(at(task)('a.txt'))
    await task.step({ files: ['a.txt', 'never-there.txt'] })
  })

  test('K1: paths outside, in .git and ignored new ones make no step', async () => {
    const task = await recorded({ files: { 'a.txt': 'one\n', '.gitignore': '*.log\n' } })
    const outside = path.join(path.dirname(task.dir), 'outside.txt')
    writeFileSync(outside, 'outside')
    writeFileSync(at(task)('x.log'), 'ignored')
    symlinkSync('/etc', path.join(task.repo.home, 'etc'))
    const files = ['../outside.txt', outside, '/etc/passwd', '.git', '.git/HEAD', 'x.log', '..', '../..']
    expect(await task.lib.checkpoint({ task: 'T1', files })).toMatchObject({ created: false })
  })

  test('K1: behind a link it is the real file that counts, and nothing outside', async () => {
    const task = await recorded({ files: { 'real/a.txt': 'one\n' } })
    const file = at(task)
    symlinkSync('real', file('link'))
    symlinkSync('/etc', file('outside'))
    await task.step()
    writeFileSync(file('link/a.txt'), 'changed\n')
    const { checkpoint } = await task.step({ files: ['link/a.txt', 'outside/passwd'] })
    expect(checkpoint.files).toEqual([{ path: 'real/a.txt', status: 'modified' }])
    // The workspace may be reached by another name.
    symlinkSync(task.dir, path.join(task.repo.home, 'alias'))
    writeFileSync(file('real/a.txt'), 'again\n')
    await task.step({ files: [path.join(task.repo.home, 'alias/real/a.txt')] })
  })

  test('K1: a folder means everything in it', async () => {
    const task = await recorded({
      files: { 'src/a.txt': 'one\n', 'src/deep/b.txt': 'two\n', 'c.txt': 'three\n' },
    })
    const file = at(task)
    writeFileSync(file('src/a.txt'), 'changed\n')
    writeFileSync(file('src/new.txt'), 'new\n')
    await task.step({ files: ['src'] })
    rmSync(file('src'), { recursive: true })
    await task.step({ files: ['src/'] })
    mkdirSync(file('src'))
    writeFileSync(file('src/back.txt'), 'back\n')
    await task.step({ files: ['.'] })
    rmSync(file('src'), { recursive: true })
    writeFileSync(file('src'), 'a file now')
    await task.step({ files: ['src'] })
    await task.rewindAll()
  })

  test('K1: odd names are names, not patterns', async () => {
    const task = await recorded({ files: { 'a.txt': 'one\n' } })
    const names = ['*.txt', '[a].txt', ':(top)x', '-rf', 'new\nline', 'space ', '🦉', '!bang', '"quote"']
    writeFileSync(at(task)('a.txt'), 'not named\n')
    for (const name of names) writeFileSync(at(task)(name), name)
    const { checkpoint } = await task.lib.checkpoint({ task: 'T1', files: names })
    expect(checkpoint.files.map((one) => one.path).toSorted()).toEqual(names.toSorted())
  })
})

test('K5: a folder that became a link does not let a look stray out of the workspace', async () => {
  const task = await recorded({ files: { 'a.txt': 'one\n' } })
  const file = at(task)
  const outside = path.join(task.repo.home, 'outside')
  mkdirSync(outside)
  writeFileSync(path.join(outside, 'x.txt'), 'outside')
  mkdirSync(file('dir'))
  writeFileSync(file('dir/x.txt'), 'inside')
  await task.step()
  rmSync(file('dir'), { recursive: true })
  symlinkSync(outside, file('dir'))
  const { checkpoint } = await task.step()
  expect(checkpoint.files).toEqual([
    { path: 'dir', status: 'added' },
    { path: 'dir/x.txt', status: 'deleted' },
  ])
  await task.rewindAll()
  expect(readFileSync(path.join(outside, 'x.txt'), 'utf8')).toBe('outside')
})

test('K5: files in the folder of a submodule that is not checked out are the workspace’s', async () => {
  const other = testRepo({ 's.txt': 'sub\n' })
  const commit = other.git('rev-parse', 'HEAD').trim()
  const repo = testRepo()
  repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.dir, 'sub')
  repo.git('commit', '--quiet', '--message=Submodule')
  rmSync(path.join(repo.dir, '.git/modules'), { recursive: true })
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'sub/work.txt'), 'work')
  const { checkpoint } = await lib.checkpoint({ task: 'T1', files: ['sub/work.txt'] })
  expect(Object.keys(readTree(repo, checkpoint.commit))).toContain('sub/work.txt')
  await lib.rewind({ task: 'T1', to: 0 })
  expect(existsSync(path.join(task.path, 'sub/work.txt'))).toBe(false)
  expect(readTree(repo, stepCommits(repo).at(-1) ?? '').sub).toBe(`160000 ${commit}`)
  await lib.rewind({ task: 'T1', to: 1 })
  expect(readFileSync(path.join(task.path, 'sub/work.txt'), 'utf8')).toBe('work')
})
