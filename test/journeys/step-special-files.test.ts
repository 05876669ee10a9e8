import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { libraryAsOther, ownedByOther } from '../support/other-user.ts'
import { testRepo } from '../support/repo.ts'
import { readTree, recorded, stepCommits } from '../support/vault.ts'
import { commitFile, inFolder, library } from '../support/workspace.ts'

const files = { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' }

function mknod(...args: string[]): boolean {
  try {
    execFileSync('mknod', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('K5: what a step cannot hold is listed, and the rest is captured', () => {
  test('K5: pipes, sockets and devices', async () => {
    const task = await recorded({ files })
    const at = (name: string) => path.join(task.dir, name)
    const server = createServer().listen(at('dir/socket'))
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    mknod(at('pipe'), 'p')
    const device = mknod(at('null'), 'c', '1', '3')
    // They are listed beside what changed.
    writeFileSync(at('new.txt'), 'new\n')
    writeFileSync(at('dir/b.txt'), 'changed\n')
    const { checkpoint } = await task.step()
    const expected = [
      { path: 'dir/socket', why: 'a socket' },
      { path: 'pipe', why: 'a pipe' },
      ...(device ? [{ path: 'null', why: 'a device' }] : []),
    ]
    expect(checkpoint.skipped).toEqual(expect.arrayContaining(expected))
    expect(checkpoint.skipped).toHaveLength(expected.length)
    expect((await task.lib.log('T1')).at(-1)?.skipped).toEqual(checkpoint.skipped)
  })

  test('K5: a pipe in the place of a tracked file', async () => {
    const task = await recorded({ files })
    const at = (name: string) => path.join(task.dir, name)
    rmSync(at('a.txt'))
    rmSync(at('dir/b.txt'))
    mknod(at('a.txt'), 'p')
    mknod(at('dir/b.txt'), 'p')
    writeFileSync(at('new.txt'), 'new\n')
    const { checkpoint } = await task.step()
    expect(checkpoint.skipped).toContainEqual({ path: 'a.txt', why: 'a pipe' })
    await task.rewindAll()
  })

  test('K5: names that git refuses to have in a commit', async () => {
    const names = ['git~1', '.GIT/x', 'sub/.git. /y', '.g\u200cit/z']
    const task = await recorded({ files, except: (file) => /^(git~1|\.GIT|sub|\.g\xe2)/.test(file) })
    for (const name of names) {
      mkdirSync(path.dirname(path.join(task.dir, name)), { recursive: true })
      writeFileSync(path.join(task.dir, name), 'odd')
    }
    writeFileSync(path.join(task.dir, 'a.txt'), 'two\n')
    const { checkpoint } = await task.step()
    expect(checkpoint.skipped.map((skipped) => skipped.path).toSorted()).toEqual(names.toSorted())
    // It is in the user's repository all the same.
    expect(task.repo.git('cat-file', 'blob', `${checkpoint.published}:a.txt`)).toBe('two\n')
  })
})

describe.skipIf(process.getuid?.() !== 0)('K5: files that cannot be read', () => {
  const othersRepo = () => ownedByOther(testRepo({ ...files, 'secret/c.txt': 'three\n' }))

  test('K5: an unreadable file and folder are listed; what the last step has of them stays', async () => {
    const repo = othersRepo()
    const answer = (await libraryAsOther(
      repo,
      `const { task } = await lib.start({ task: 'T1' })
       const at = (name) => task.path + '/' + name
       fs.writeFileSync(at('locked.txt'), 'first')
       await lib.checkpoint({ task: 'T1' })
       fs.writeFileSync(at('locked.txt'), 'second')
       fs.chmodSync(at('locked.txt'), 0)
       fs.mkdirSync(at('closed'))
       fs.writeFileSync(at('closed/d.txt'), 'four')
       fs.chmodSync(at('closed'), 0)
       fs.chmodSync(at('secret'), 0)
       fs.writeFileSync(at('new.txt'), 'new')
       const taken = await lib.checkpoint({ task: 'T1', ignored: true })
       fs.chmodSync(at('closed'), 0o755)
       fs.chmodSync(at('secret'), 0o755)
       return { path: task.path, taken, ignored: taken.ignored }`,
    )) as { taken: { checkpoint: { skipped: { path: string }[] } }; ignored: string[]; path: string }
    expect(answer.taken).toMatchObject({ created: true, checkpoint: { n: 2 } })
    const skipped = answer.taken.checkpoint.skipped.map((one) => one.path).toSorted()
    expect(skipped).toEqual(['closed/', 'locked.txt', 'secret/', 'secret/c.txt'])
    const held = readTree(repo, stepCommits(repo)[2] ?? '')
    expect(Object.keys(held).toSorted()).toEqual([
      'a.txt',
      'dir/b.txt',
      'locked.txt',
      'new.txt',
      'secret/c.txt',
    ])
    const before = readTree(repo, stepCommits(repo)[1] ?? '')
    expect(held['locked.txt']).toBe(before['locked.txt'])
  })

  test('K5: an unreadable file that a rewind meets is set aside, not destroyed', async () => {
    const repo = othersRepo()
    const answer = (await libraryAsOther(
      repo,
      `const { task } = await lib.start({ task: 'T1' })
       const file = task.path + '/locked.txt'
       fs.writeFileSync(file, 'first')
       await lib.checkpoint({ task: 'T1' })
       fs.writeFileSync(file, 'never captured')
       fs.chmodSync(file, 0)
       fs.writeFileSync(task.path + '/a.txt', 'x')
       await lib.checkpoint({ task: 'T1' })
       await lib.rewind({ task: 'T1', to: 0 })
       return { path: task.path, there: fs.existsSync(file) }`,
    )) as { path: string; there: boolean }
    expect(answer.there).toBe(false)
    const trash = path.join(path.dirname(answer.path), '.trash')
    const found = execFileSync('find', [trash, '-name', '*locked.txt'], { encoding: 'utf8' }).trim()
    expect(readFileSync(found, 'utf8')).toBe('never captured')
  })

  test('K4: a vault that may not be written is no unreadable file', async () => {
    const repo = othersRepo()
    const answer = (await libraryAsOther(
      repo,
      `const { task } = await lib.start({ task: 'T1' })
       await lib.checkpoint({ task: 'T1' })
       const vaults = ${JSON.stringify(path.join(repo.env.OFFSHOOT_HOME ?? '', 'vaults'))}
       const objects = vaults + '/' + fs.readdirSync(vaults)[0] + '/objects'
       for (const name of fs.readdirSync(objects)) fs.chmodSync(objects + '/' + name, 0o500)
       fs.chmodSync(objects, 0o500)
       fs.writeFileSync(task.path + '/a.txt', 'x')
       const failed = await lib.checkpoint({ task: 'T1' }).catch((error) => error.code)
       const { state } = await lib.find('T1')
       fs.chmodSync(objects, 0o700)
       for (const name of fs.readdirSync(objects)) fs.chmodSync(objects + '/' + name, 0o700)
       const again = await lib.checkpoint({ task: 'T1' })
       const now = (await lib.find('T1')).state
       return { failed, state, now, created: again.created, skipped: again.checkpoint.skipped }`,
    )) as Record<string, unknown>
    expect(answer).toEqual({ failed: 'WT_022', state: 'failed', now: 'active', created: true, skipped: [] })
  })
})

describe('K5: repositories inside the workspace', () => {
  const nestedGit = (task: { repo: ReturnType<typeof testRepo>; dir: string }, name: string) => {
    mkdirSync(path.join(task.dir, name), { recursive: true })
    const nested = inFolder(task.repo, path.join(task.dir, name))
    nested.git('init', '--quiet')
    return nested
  }

  test('K5: with a commit, without one, one in another, one that ignores', async () => {
    const task = await recorded({
      files: { ...files, '.gitignore': '*.log\n' },
      except: (file) => file.endsWith('.log'),
    })
    const empty = nestedGit(task, 'empty')
    empty.write('x.txt', 'x')
    empty.write('x.log', 'ignored')
    const full = nestedGit(task, 'full')
    full.write('y.txt', 'y')
    full.write('in/z.txt', 'z')
    full.git('add', '--all')
    full.git('commit', '--quiet', '--message=Nested')
    const inner = nestedGit(task, 'full/in/ner')
    inner.write('w.txt', 'w')
    const { checkpoint } = await task.step()
    expect(checkpoint.skipped.map((one) => one.path).toSorted()).toEqual([
      'empty/.git',
      'full/.git',
      'full/in/ner/.git',
    ])
    expect(checkpoint.files.map((file) => file.path)).toEqual([
      'empty/x.txt',
      'full/in/ner/w.txt',
      'full/in/z.txt',
      'full/y.txt',
    ])
    full.write('y.txt', 'changed')
    await task.step()
    rmSync(path.join(task.dir, 'full'), { recursive: true })
    await task.step()
    await task.rewindAll()
  })

  test('K5: made in a folder that has files of the base', async () => {
    const task = await recorded({ files })
    const nested = nestedGit(task, 'dir')
    nested.write('new.txt', 'new')
    nested.write('b.txt', 'changed')
    nested.git('add', '--all')
    nested.git('commit', '--quiet', '--message=Nested')
    const { checkpoint } = await task.step()
    expect(checkpoint.skipped).toEqual([{ path: 'dir/.git', why: 'a repository of its own' }])
    await task.rewindAll()
  })

  test('K5: a submodule is the commit that it is on, whatever else happens inside', async () => {
    const other = testRepo({ 's.txt': 'sub\n' })
    const commit = other.git('rev-parse', 'HEAD').trim()
    const task = await recorded({
      files,
      before: (repo) => {
        repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.dir, 'sub')
        repo.git('commit', '--quiet', '--message=Submodule')
      },
      except: (file) => file.startsWith('sub/'),
      more: { sub: `160000 ${commit}` },
    })
    const workspace = inFolder(task.repo, task.dir)
    workspace.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init')
    await task.step({ created: false })
    const sub = inFolder(task.repo, path.join(task.dir, 'sub'))
    sub.write('s.txt', 'changed\n')
    await task.step({ created: false })
    const moved = commitFile(sub, 's.txt', 'changed\n')
    const { checkpoint } = await task.lib.checkpoint({ task: 'T1' })
    expect(checkpoint.skipped).toEqual([
      { path: 'sub', why: 'what is uncommitted in the submodule, if anything' },
    ])
    expect(readTree(task.repo, checkpoint.commit).sub).toBe(`160000 ${moved}`)
    await task.rewind(0)
    expect(readFileSync(path.join(task.dir, 'sub/s.txt'), 'utf8')).toBe('changed\n')
  })

  test('K5: a sparse checkout: what is not there is not deleted, what is written outside counts', async () => {
    const repo = testRepo({ 'in/a.txt': 'one\n', 'out/b.txt': 'two\n', 'out/c.txt': 'three\n' })
    repo.git('sparse-checkout', 'set', 'in')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    expect(existsSync(path.join(task.path, 'out'))).toBe(false)
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    const base = readTree(repo, stepCommits(repo)[0] ?? '')
    expect(Object.keys(base)).toEqual(['in/a.txt', 'out/b.txt', 'out/c.txt'])
    mkdirSync(path.join(task.path, 'out'))
    writeFileSync(path.join(task.path, 'out/b.txt'), 'written outside\n')
    writeFileSync(path.join(task.path, 'in/a.txt'), 'changed\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(checkpoint.files).toEqual([
      { path: 'in/a.txt', status: 'modified' },
      { path: 'out/b.txt', status: 'modified' },
    ])
    const held = readTree(repo, checkpoint.commit)
    expect(held['out/c.txt']).toBe(base['out/c.txt'])
    await lib.rewind({ task: 'T1', to: 0 })
    expect(readFileSync(path.join(task.path, 'out/b.txt'), 'utf8')).toBe('two\n')
    expect(existsSync(path.join(task.path, 'out/c.txt'))).toBe(false)
  })
})

describe('K5: files that do not stand still', () => {
  test('K5: files that are rewritten, truncated and replaced all the time are captured at some instant', async () => {
    const task = await recorded({ files })
    const script = `
      const fs = require('node:fs')
      const file = process.argv[1] + '/busy.txt', kind = process.argv[1] + '/kind', grown = process.argv[1] + '/grown.bin'
      const big = Buffer.alloc(20 * 1024 * 1024, 'y')
      let n = 0
      const quietly = (work) => { try { work() } catch {} }
      for (;;) {
        n++
        fs.writeFileSync(file, String(n % 10).repeat(1000 * (n % 50)))
        fs.truncateSync(file, n % 1000)
        quietly(() => fs.rmSync(kind, { recursive: true, force: true }))
        quietly(() => [
          () => fs.writeFileSync(kind, 'file'),
          () => fs.symlinkSync('elsewhere', kind),
          () => { fs.mkdirSync(kind); fs.writeFileSync(kind + '/in', 'x') },
          () => require('node:child_process').execFileSync('mkfifo', [kind]),
        ][n % 4]())
        if (n % 5 === 0) fs.writeFileSync(grown, big)
        if (n % 5 === 3) quietly(() => fs.truncateSync(grown, 17 * 1024 * 1024))
        if (n === 10) console.log('ready')
      }`
    const writer = spawn(process.execPath, ['-e', script, task.dir], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void writer.kill('SIGKILL'))
    await once(writer.stdout, 'data')
    for (let n = 0; n < 8; n++) {
      writeFileSync(path.join(task.dir, 'a.txt'), `round ${n}\n`)
      const { created, checkpoint } = await task.lib.checkpoint({ task: 'T1' })
      expect(created).toBe(true)
      const busy = readTree(task.repo, checkpoint.commit)['busy.txt']
      expect(busy).toMatch(/^100644 \d+ /)
      expect(checkpoint.files).toContainEqual({ path: 'a.txt', status: 'modified' })
    }
    writer.kill('SIGKILL')
    await once(writer, 'close')
    task.states.length = (await task.lib.log('T1')).length + 1
    writeFileSync(path.join(task.dir, 'last.txt'), 'last')
    await task.step()
  })

  test('K5: the same size and time after a second write within the same second', async () => {
    const task = await recorded({ files })
    const { lutimesSync, statSync } = await import('node:fs')
    const file = path.join(task.dir, 'a.txt')
    for (const text of ['two\n', 'six\n', 'ten\n', 'one\n', 'six\n']) {
      const { atime, mtime } = statSync(file)
      writeFileSync(file, text)
      lutimesSync(file, atime, mtime)
      await task.step()
    }
    const old = new Date('2001-01-01T00:00:00Z')
    for (const text of ['two\n', 'six\n', 'ten\n']) {
      writeFileSync(`${file}.new`, text)
      lutimesSync(`${file}.new`, old, old)
      renameSync(`${file}.new`, file)
      await task.step()
    }
    rmSync(file)
    symlinkSync('xyz', file)
    await task.step()
    await task.rewindAll()
  })
})
