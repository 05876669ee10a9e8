import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { FileSystem } from '../../src/core/ports/files.ts'
import { repairsAll } from '../support/damaged.ts'
import { addFiles, loseRecords } from '../support/damage.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { leftBehind } from '../support/left-behind.ts'
import { offshoot, quickFolder, testRepo, type TestRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import {
  commitFile,
  inFolder,
  library,
  linkedWorktrees,
  once,
  ownRefs,
  withEnv,
} from '../support/workspace.ts'

const doctor = (user: TestRepo) =>
  once(user, async (repo) => (await repo.doctor()).filter(({ status }) => status !== 'ok'))
const repair = (user: TestRepo) => once(user, (repo) => repo.repair())

test(
  'R7: of 30 tasks 10 are damaged in ten ways: doctor names all, repair mends what can be, nothing else changes',
  async () => {
    await repairsAll(30, 3, quickFolder())
  },
  5 * 60_000,
)

describe('R7: doctor says what is wrong, why that matters and what mends it, and repair does', () => {
  test('of a repository that was moved: the record, the workspaces and the checkout of its tasks follow', async () => {
    const user = testRepo()
    const repo = library(user)
    const { task } = await repo.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'work.txt'), 'work\n')
    await repo.checkpoint({ task: 'T1' })
    await repo.close()
    const moved = inFolder(user, path.join(user.home, 'elsewhere'))
    renameSync(user.dir, moved.dir)
    expect(await doctor(inFolder(user, user.home))).toMatchObject([
      { name: 'repository' },
      {
        message: expect.stringContaining('is gone, with 1 open task'),
        hint: expect.stringContaining('offshoot repair'),
      },
    ])
    expect((await doctor(moved))[0]).toMatchObject({
      name: 'repository',
      hint: expect.stringContaining('offshoot repair'),
    })
    expect((await repair(moved)).left).toEqual([])
    expect(await doctor(moved)).toEqual([])
    expect(inFolder(user, task.path).git('status', '--porcelain')).toBe('')
    expect((await offshoot(inFolder(user, task.path), 'accept', '--json')).json.ok).toBe(true)
    expect(readFileSync(path.join(moved.dir, 'work.txt'), 'utf8')).toBe('work\n')
  })

  test('of a repository that was moved: a clone keeps its commits, branches and index', async () => {
    const user = testRepo()
    const { task } = await once(user, (repo) => repo.start({ task: 'T1', isolation: 'clone' }))
    const clone = inFolder(user, task.path)
    commitFile(clone, 'done.txt', 'of the agent\n')
    clone.git('branch', 'side')
    clone.write('staged.txt', 'staged\n')
    clone.git('add', 'staged.txt')
    const moved = inFolder(user, path.join(user.home, 'elsewhere'))
    renameSync(user.dir, moved.dir)
    expect((await repair(moved)).left).toEqual([])
    expect(await doctor(moved)).toEqual([])
    expect(clone.git('log', '--format=%s', 'side')).toBe('Write done.txt\nFirst commit\n')
    expect(clone.git('status', '--porcelain', '--branch')).toContain('A  staged.txt')
  })

  test('of a repository that was moved with the workspaces in it', async () => {
    const user = withEnv(testRepo(), { OFFSHOOT_WORKSPACE_BASE: '.spaces' })
    await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    const moved = inFolder(user, path.join(user.home, 'elsewhere'))
    renameSync(user.dir, moved.dir)
    expect((await repair(moved)).left).toEqual([])
    const { task } = (await offshoot(moved, 'show', 'T1', '--json')).json
    expect(path.dirname(task.path)).toBe(path.join(moved.dir, '.spaces'))
    expect([task.dirty, inFolder(user, task.path).git('status', '--porcelain')]).toEqual([false, ''])
    expect(await doctor(moved)).toEqual([])
  })

  test('of a repository that was deleted: it is told how to give it up', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    rmSync(user.dir, { recursive: true })
    const at = inFolder(user, user.home)
    const [, gone] = await doctor(at)
    expect(gone).toMatchObject({ status: 'warn', hint: expect.stringContaining('offshoot repos forget') })
    expect((await repair(at)).left).toHaveLength(1)
    expect((await offshoot(at, 'repos', 'forget', path.join(user.dir, '.git'))).code).toBe(0)
    expect((await doctor(at)).map(({ name }) => name)).toEqual(['repository'])
  })

  test('of locks: ours go, those of the user are told and stay', async () => {
    const user = testRepo()
    const { json } = await offshoot(user, 'start', 'T1', '--json')
    const at = (name: string) => path.join(user.dir, '.git', name)
    const [pin = ''] = ownRefs(user).filter((ref) => ref.includes('/base/'))
    const locks = ['index.lock', 'refs/heads/main.lock', `${pin}.lock`]
    const hourAgo = Date.now() / 1000 - 3600
    for (const name of locks) {
      writeFileSync(at(name), '')
      utimesSync(at(name), hourAgo, hourAgo)
    }
    // A git that is at work right now is nobody's concern.
    writeFileSync(at('packed-refs.lock'), '')
    const found = await doctor(user)
    expect(found.map(({ name }) => name)).toEqual(locks.map((name) => `lock ${name}`))
    expect(found[0]?.hint).toContain(`rm ${at('index.lock')}`)
    expect((await repair(user)).repaired.map(({ name }) => name)).toEqual([`lock ${pin}.lock`])
    expect(locks.map((name) => existsSync(at(name)))).toEqual([true, true, false])
    expect(existsSync(json.task.path)).toBe(true)
  })

  test('of locks in a vault, which go, and of those in a worktree, which stay', async () => {
    const user = testRepo()
    const { json } = await offshoot(user, 'run', '--task', 'T1', '--json', '--', 'touch', 'x.txt')
    const own = path.join(user.dir, '.git', 'worktrees', path.basename(json.task.path))
    const [uid = ''] = readdirSync(path.join(vaultDir(user), 'refs', 'tasks'))
    const theirs = ['index.lock', 'HEAD.lock'].map((name) => path.join(own, name))
    const ours = ['packed-refs.lock', `refs/tasks/${uid}.lock`].map((name) => path.join(vaultDir(user), name))
    const hourAgo = Date.now() / 1000 - 3600
    for (const file of [...theirs, ...ours]) {
      writeFileSync(file, '')
      utimesSync(file, hourAgo, hourAgo)
    }
    // A git that is at work right now is nobody's concern.
    writeFileSync(path.join(vaultDir(user), 'HEAD.lock'), '')
    const found = await doctor(user)
    expect(found.map(({ message }) => message.split(' ')[0])).toEqual([...theirs, ...ours])
    expect(found.map(({ hint }) => hint)).toEqual([
      ...theirs.map((file) => `If no git is at work there: rm ${file}`),
      ...ours.map(() => 'offshoot repair'),
    ])
    const { repaired, left } = await repair(user)
    expect([repaired.length, left.length]).toEqual([2, 2])
    expect([...theirs, ...ours].map((file) => existsSync(file))).toEqual([true, true, false, false])
    expect(existsSync(path.join(vaultDir(user), 'HEAD.lock'))).toBe(true)
  })

  test('of a vault without HEAD and config: both are made again, and the steps are there', async () => {
    const user = testRepo()
    await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    for (const name of ['HEAD', 'config']) rmSync(path.join(vaultDir(user), name))
    expect(await doctor(user)).toMatchObject([{ name: expect.stringMatching(/^vault /), status: 'fail' }])
    expect((await repair(user)).left).toEqual([])
    expect(await doctor(user)).toEqual([])
    expect((await offshoot(user, 'log', 'T1', '--json')).json.checkpoints).toHaveLength(1)
  })

  test('of a vault that has lost what a step holds: it is told, and nothing is changed', async () => {
    const user = withEnv(testRepo(), { OFFSHOOT_CHECKPOINTS_PUBLISH: 'never' })
    await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    writeFileSync(path.join(user.home, 'x.txt'), 'x\n')
    const blob = user.git('hash-object', path.join(user.home, 'x.txt')).trim()
    rmSync(path.join(vaultDir(user), 'objects', blob.slice(0, 2), blob.slice(2)))
    expect(await doctor(user)).toMatchObject([
      { name: expect.stringMatching(/^vault /), status: 'fail', message: expect.stringContaining(blob) },
    ])
    const { code, json } = await offshoot(user, 'repair', '--json')
    expect([code, json.repaired, json.left.length]).toEqual([1, [], 1])
  })

  test('of a state of another kind in the state folder: it is set aside, every byte of it', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const home = user.env.OFFSHOOT_HOME ?? ''
    writeFileSync(path.join(home, 'state.json'), '{"worktrees":[]}')
    mkdirSync(path.join(home, 'git-sessions'))
    writeFileSync(path.join(home, 'git-sessions', '1.json'), '{}')
    expect((await doctor(user)).map(({ name, hint }) => `${name}: ${hint}`)).toEqual([
      'old state: offshoot repair sets it aside.',
      'old state: offshoot repair sets it aside.',
    ])
    expect((await repair(user)).left).toEqual([])
    expect(await doctor(user)).toEqual([])
    const [aside = ''] = readdirSync(path.join(home, 'aside'))
    expect(readFileSync(path.join(home, 'aside', aside, 'state.json'), 'utf8')).toBe('{"worktrees":[]}')
    expect(existsSync(path.join(home, 'aside', aside, 'git-sessions', '1.json'))).toBe(true)
  })
})

test('R7: of a state of another kind what cannot be moved is told, and the rest is repaired', async () => {
  const user = testRepo()
  const stuck = (files: FileSystem): FileSystem => ({
    ...files,
    rename: (from, to) =>
      from.endsWith('a.json') ? Promise.reject(new Error('EPERM: not permitted')) : files.rename(from, to),
  })
  const lib = library(user, { around: { files: stuck } })
  const { task } = await lib.start({ task: 'T1' })
  const home = user.env.OFFSHOOT_HOME ?? ''
  for (const name of ['a.json', 'b.json']) writeFileSync(path.join(home, name), '{}')
  rmSync(task.path, { recursive: true })
  const { repaired, left } = await lib.repair()
  expect(left).toMatchObject([{ name: 'old state', message: expect.stringContaining('a.json stays') }])
  expect(repaired).toHaveLength(2)
  expect(existsSync(task.path)).toBe(true)
  expect(['a.json', 'b.json'].map((name) => existsSync(path.join(home, name)))).toEqual([true, false])
})

test('R7: what doctor says to do for a task of another repository mends that one, wherever it is said', async () => {
  const [user, other] = [testRepo(), testRepo()]
  const there = withEnv(other, { OFFSHOOT_HOME: user.env.OFFSHOOT_HOME ?? '' })
  for (const repo of [user, there]) await offshoot(repo, 'start', 'T1')
  const [pin = ''] = ownRefs(there).filter((ref) => ref.includes('/base/'))
  there.git('update-ref', '-d', pin)
  for (const asked of [user, inFolder(user, user.home)]) {
    const found = (await doctor(asked)).filter(({ name }) => name === 'task T1')
    expect(found.map(({ hint }) => hint)).toEqual([`offshoot repair T1 -C ${there.dir}`])
  }
  expect((await offshoot(user, 'repair', 'T1', '-C', there.dir)).code).toBe(0)
  expect(await doctor(user)).toEqual([])
})

describe('R7: doctor tells of what offshoot stands on', () => {
  test('a clock that went back', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const db = new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'))
    db.exec("UPDATE events SET at = '2999-01-01T00:00:00.000Z' WHERE seq = (SELECT max(seq) FROM events)")
    db.close()
    expect(await doctor(user)).toMatchObject([
      { name: 'clock', status: 'warn', hint: expect.stringMatching(/clock/) },
    ])
  })

  test('a clock that is further ahead than the trash keeps things', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const db = new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'))
    db.prepare('UPDATE events SET at = ?').run(new Date(Date.now() - 31 * 86_400_000).toISOString())
    db.close()
    expect(await doctor(user)).toMatchObject([
      { name: 'clock', status: 'warn', hint: expect.stringMatching(/before you prune/) },
    ])
    expect(await doctor(withEnv(user, { OFFSHOOT_TRASH_KEEP_DAYS: '32' }))).toEqual([])
  })

  test('a git that is too old', async () => {
    const user = testRepo()
    const tools = path.join(user.home, 'tools')
    mkdirSync(tools)
    writeFileSync(path.join(tools, 'git'), '#!/bin/sh\necho git version 2.20.1\n', { mode: 0o755 })
    const old = withEnv(user, { PATH: `${tools}:${user.env.PATH}` })
    expect((await doctor(old))[0]).toMatchObject({
      name: 'git',
      status: 'fail',
      message: expect.stringContaining('2.20.1'),
      why: expect.stringContaining('needs it'),
      hint: expect.stringContaining('2.38'),
    })
  })

  test('S6: a state folder that others may write to on the way', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    expect(await doctor(user)).toEqual([])
    chmodSync(user.home, 0o777)
    expect(await doctor(user)).toMatchObject([
      {
        name: 'state folder',
        status: 'fail',
        message: expect.stringContaining(`${user.home} can be written by others`),
        hint: expect.stringContaining(`chmod go-w ${user.home}`),
      },
    ])
  })

  test('a database that is none', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    for (const end of ['', '-wal', '-shm'])
      rmSync(path.join(user.env.OFFSHOOT_HOME ?? '', `state.db${end}`), { force: true })
    writeFileSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'), 'no database at all\n'.repeat(100))
    expect(await doctor(user)).toMatchObject([
      { name: 'state folder', status: 'fail', why: expect.stringContaining('no task is found') },
    ])
  })

  test('all that is wrong with a state folder, not only the first of it', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const space = async () => ({ free: 1, total: 100, network: true })
    const repo = library(user, { around: { files: (files) => ({ ...files, readFreeSpace: space }) } })
    const found = (await repo.doctor()).filter(({ name }) => name === 'state folder')
    expect(found).toMatchObject([
      { status: 'warn', message: expect.stringContaining('99 % full') },
      { status: 'warn', message: expect.stringContaining('network file system') },
    ])
  })

  test.each([
    { free: 5, network: false, percent: 90, message: '95 % full' },
    { free: 60, network: false, percent: 40, message: '40 % full (disk.warnPercent is 40)' },
    { free: 5, network: true, percent: 96, message: 'network file system' },
  ])('a state folder that is on a disk like this: $message', async ({ free, network, percent, message }) => {
    const space = async () => ({ free, total: 100, network })
    const user = withEnv(testRepo(), { OFFSHOOT_DISK_WARN_PERCENT: String(percent) })
    const repo = library(user, { around: { files: (files) => ({ ...files, readFreeSpace: space }) } })
    expect(await repo.doctor()).toContainEqual(
      expect.objectContaining({
        name: 'state folder',
        status: 'warn',
        message: expect.stringContaining(message),
      }),
    )
  })
})

test('R5: worktrees of others are never touched, whatever their state, nor is a folder that nobody knows', async () => {
  const user = testRepo()
  const others = ['.claude/worktrees/agent-1', '../codex-tree', '../by-hand'].map((name) =>
    path.resolve(user.dir, name),
  )
  user.git('config', 'core.excludesFile', path.join(user.home, 'ignored'))
  writeFileSync(path.join(user.home, 'ignored'), '.claude\n')
  for (const [n, folder] of others.entries()) {
    user.git('worktree', 'add', '--quiet', '-b', `other-${n}`, folder)
    writeFileSync(path.join(folder, 'unsaved.txt'), 'theirs\n')
  }
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  const { task: given } = await repo.start({ task: 'T2' })
  await repo.reject({ task: given.id })
  await repo.close()
  // One that git was killed in, one whose folder is gone, one that looks like a leftover of ours.
  const registered = path.join(user.dir, '.git', 'worktrees')
  writeFileSync(path.join(registered, 'codex-tree', 'locked'), 'initializing')
  rmSync(others[2]!, { recursive: true })
  writeFileSync(
    path.join(registered, 'agent-1', 'offshoot.json'),
    '{"task":"T9","uid":"00000000000000000000"}\n',
  )
  user.git('update-ref', 'refs/offshoot/base/11111111111111111111', 'HEAD')
  const stray = path.join(path.dirname(task.path), 'somebody')
  mkdirSync(stray)
  writeFileSync(path.join(stray, 'file'), 'x')

  const picture = () => {
    const found: Record<string, string> = { refs: user.git('for-each-ref') }
    for (const folder of [registered, stray, task.path, ...others]) addFiles(found, folder, folder)
    return found
  }
  const [before, users] = [picture(), fingerprint(user)]
  expect((await doctor(user)).map(({ name }) => name).toSorted()).toEqual([
    'folder somebody',
    'pin refs/offshoot/base/11111111111111111111',
    'worktree agent-1',
    'worktree codex-tree',
  ])
  const { json } = await offshoot(user, 'recover', '--json')
  expect(json.recovered).toEqual([])
  expect(json.reported).toHaveLength(4)
  expect((await repair(user)).repaired).toEqual([])
  expect(picture()).toEqual(before)
  expect(fingerprint(user)).toEqual(users)
})

test('R5: what is left of a closed task goes into the trash, unless it holds what no step has', async () => {
  const user = testRepo()
  const repo = library(user)
  const clean = await leftBehind(user, repo, 'T1')
  const dirty = await leftBehind(user, repo, 'T2', { dirty: true })
  const { json } = await offshoot(user, 'recover', '--json')
  expect(
    json.recovered
      .map(({ task, verdict }: { task: string; verdict: string }) => `${task} ${verdict}`)
      .toSorted(),
  ).toEqual(['T1 finished', 'T1 quarantined', 'T2 finished'])
  expect(json.reported).toMatchObject([{ message: expect.stringContaining('holds what no step has') }])
  expect([existsSync(clean.path), existsSync(dirty.path)]).toEqual([false, true])
  expect(linkedWorktrees(user).map((worktree) => worktree.path)).toEqual([dirty.path])
  expect(readFileSync(path.join(dirty.path, 'unsaved.txt'), 'utf8')).toBe('unsaved\n')
  expect(ownRefs(user).filter((ref) => ref.includes('/base/'))).toEqual([])
})

test('R5: a repository that cannot be read whole is told of, and nothing is changed', async () => {
  const user = testRepo()
  await offshoot(user, 'start', 'T1')
  user.git('update-ref', 'refs/offshoot/base/11111111111111111111', 'HEAD')
  loseRecords(user)
  await offshoot(user, 'start', 'T2')
  // Git itself gives up on such a file, and with it the list of refs.
  writeFileSync(path.join(user.dir, '.git', 'packed-refs'), 'garbage\n')
  const { json } = await offshoot(user, 'recover', '--json')
  expect(json.recovered).toEqual([])
  expect(json.reported).toMatchObject([
    {
      name: expect.stringMatching(/^repository /),
      message: expect.stringContaining('could not be looked at'),
    },
  ])
  rmSync(path.join(user.dir, '.git', 'packed-refs'))
  expect((await doctor(user)).map(({ name }) => name)).toContain('task T1')
  const { json: then } = await offshoot(user, 'recover', '--json')
  expect(then.recovered).toMatchObject([{ task: 'task T1', verdict: 'adopted' }])
  expect(
    (await offshoot(user, 'list', '--json')).json.tasks.map(({ id }: { id: string }) => id).toSorted(),
  ).toEqual(['T1', 'T2'])
})

describe('R7: doctor tells all else, and recover and repair do what they can', () => {
  test('where one vault cannot be read', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const vault = vaultDir(user)
    const closed =
      <T>(read: (file: string) => Promise<T>) =>
      async (file: string) => {
        if (!file.startsWith(`${vault}/`)) return read(file)
        throw Object.assign(new Error(`EACCES: permission denied, '${file}'`), { code: 'EACCES' })
      }
    const around = {
      files: (files: FileSystem): FileSystem => ({
        ...files,
        readKind: closed(files.readKind),
        readText: closed(files.readText),
        readNames: closed(files.readNames),
      }),
    }
    const repo = library(user, { around })
    const unread = {
      name: expect.stringMatching(/^repository /),
      message: expect.stringContaining('could not be looked at'),
    }
    const checks = await repo.doctor()
    expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['git', 'records', 'settings']))
    expect(checks).toContainEqual(expect.objectContaining(unread))
    expect(await repo.recover()).toEqual([])
    expect(await repo.repair()).toMatchObject({ repaired: [], left: [unread] })
    // Nor is one that no record speaks of the end of it.
    await repo.close()
    loseRecords(user)
    expect(await library(user, { around }).doctor()).toContainEqual(
      expect.objectContaining({ name: expect.stringMatching(/^vault /), status: 'fail' }),
    )
  })

  test('where there is no git', async () => {
    const user = testRepo()
    await offshoot(user, 'start', 'T1')
    const { code, json } = await offshoot(withEnv(user, { PATH: '/nowhere' }), 'doctor', '--json')
    expect([code, json.ok]).toEqual([1, true])
    const told = (name: string) => json.checks.find((check: { name: string }) => check.name === name)
    expect(told('git')).toMatchObject({ status: 'fail', message: expect.stringContaining('not installed') })
    expect(told('records')).toMatchObject({ status: 'ok' })
  })
})
