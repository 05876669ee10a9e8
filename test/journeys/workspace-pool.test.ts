/** L14: workspaces that were made ahead. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { emptyPool, fittingSlots } from '../../src/core/workspaces/pool.ts'
import { requireRepo } from '../../src/core/tasks/repo.ts'
import { readTree } from '../support/accept/disk.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, linkedWorktrees, withEnv, workspaceFolders } from '../support/workspace.ts'

/** A repository whose starts take from a pool of that size; nothing fills it behind the scenes. */
function pooled(files?: Record<string, string>, size = 1) {
  const repo = withEnv(testRepo(files), { OFFSHOOT_POOL_SIZE: String(size) })
  return { repo, lib: library(repo, { background: false }) }
}

const poolOf = (repo: TestRepo) => {
  const all = path.join(repo.env.OFFSHOOT_HOME ?? '', 'workspaces')
  const [name = ''] = existsSync(all) ? readdirSync(all) : []
  return path.join(all, name, '.pool')
}

const slotsOf = (repo: TestRepo) => (existsSync(poolOf(repo)) ? readdirSync(poolOf(repo)) : [])

/** Kind, permissions and content of everything, but for `.git`. */
const exactly = (folder: string) =>
  Object.fromEntries(
    Array.from(readTree(folder), ([file, entry]) => {
      return [file, { ...entry, permissions: lstatSync(path.join(folder, file)).mode & 0o7777 }]
    }),
  )

/** As git itself would have made it. */
function fresh(repo: TestRepo) {
  const folder = mkdtempSync(path.join(repo.home, 'fresh-'))
  repo.git('worktree', 'add', '--quiet', '--detach', folder)
  return exactly(folder)
}

test('L14, P1: a slot is no task and no worktree, and leaves the repository as it is', async () => {
  const { repo, lib } = pooled({ 'a.txt': 'one\n', 'd/b.txt': 'two\n' })
  await lib.start({ task: 'T1' })
  const before = fingerprint(repo)
  const [worktrees, refs] = [linkedWorktrees(repo), repo.git('for-each-ref')]
  expect(await lib.pool()).toEqual({ slots: 1, made: 1 })
  expect(await lib.pool()).toEqual({ slots: 1, made: 0 })
  expect(slotsOf(repo)).toHaveLength(1)
  expect(fingerprint(repo)).toEqual(before)
  expect([linkedWorktrees(repo), repo.git('for-each-ref')]).toEqual([worktrees, refs])
  expect((await lib.list({ all: true })).map(({ id }) => id)).toEqual(['T1'])
})

test('L14: a start takes the slot, and the task is like any other', async () => {
  const { repo, lib } = pooled({ 'a.txt': 'one\n', 'd/b.txt': 'two\n' })
  await lib.pool()
  const [slot = ''] = slotsOf(repo)
  const made = lstatSync(path.join(poolOf(repo), slot, 'files/a.txt')).ino
  const { task } = await lib.start({ task: 'T1' })
  expect(lstatSync(path.join(task.path, 'a.txt')).ino).toBe(made)
  expect(slotsOf(repo)).toEqual([])
  expect(exactly(task.path)).toEqual(fresh(repo))
  const at = inFolder(repo, task.path)
  expect(at.git('status', '--porcelain', '--branch')).toBe('## offshoot/T1\n')
  expect(at.git('rev-parse', 'HEAD')).toBe(repo.git('rev-parse', 'main'))
  at.write('a.txt', 'changed\n')
  const { checkpoint } = await lib.checkpoint({ task: 'T1' })
  expect(checkpoint.files).toEqual([{ path: 'a.txt', status: 'modified' }])
  await lib.accept({ task: 'T1' })
  expect(repo.git('status', '--porcelain')).toBe(' M a.txt\n')
})

test('L14: of a base that moved 100 commits on, only what differs is written, and all is as in a fresh worktree', async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n % 5}/f${n}.txt`, `${n}\n`]))
  const { repo, lib } = pooled({ ...files, '.gitignore': '*.log\nbuild/\n', 'was-ignored.txt': 'x\n' })
  await lib.pool()
  const [slot = ''] = slotsOf(repo)
  const same = lstatSync(path.join(poolOf(repo), slot, 'files/d1/f1.txt')).ino
  for (let n = 0; n < 100; n++) {
    if (n === 10) chmodSync(path.join(repo.dir, 'd0/f0.txt'), 0o755)
    if (n === 20) symlinkSync('f5.txt', path.join(repo.dir, 'd0/link'))
    if (n === 30) rmSync(path.join(repo.dir, 'd2'), { recursive: true })
    if (n === 40) repo.write('d2', 'a file in the place of a folder\n')
    if (n === 50) repo.write('.gitignore', 'was-ignored.txt\n')
    repo.write(`d3/new-${n % 7}/${n}.txt`, `${n}\n`)
    repo.git('add', '--all')
    repo.git('commit', '--quiet', `--message=${n}`)
  }
  const { task } = await lib.start({ task: 'T1' })
  expect(lstatSync(path.join(task.path, 'd1/f1.txt')).ino).toBe(same)
  expect(exactly(task.path)).toEqual(fresh(repo))
  expect(inFolder(repo, task.path).git('status', '--porcelain', '--ignored')).toBe('')
  expect(task.base.commit).toBe(repo.git('rev-parse', 'HEAD').trim())
  writeFileSync(path.join(task.path, 'd0/f0.txt'), 'changed\n')
  const { checkpoint } = await lib.checkpoint({ task: 'T1' })
  expect(checkpoint.files).toEqual([{ path: 'd0/f0.txt', status: 'modified' }])
})

test('L14: attributes that changed since make files anew that are the same in both commits', async () => {
  const { repo, lib } = pooled({ 'a.txt': 'one\ntwo\n' })
  await lib.pool()
  repo.write('.gitattributes', '*.txt eol=crlf\n')
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Ends of lines')
  const { task } = await lib.start({ task: 'T1' })
  expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
})

test('L14, K5: converted files are in step 0 as they lie there, and nothing is the agent’s that it did not do', async () => {
  const { repo, lib } = pooled({ 'a.txt': 'one\ntwo\n', '.gitattributes': '*.txt eol=crlf\n' })
  await lib.pool()
  const { task } = await lib.start({ task: 'T1' })
  expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
  expect((await lib.checkpoint({ task: 'T1' })).created).toBe(false)
  expect(repo.git('status', '--porcelain')).toBe('')
})

test('L14: filters, line ends or a sparse checkout that changed since leave the slot out, and the next filling takes it away', async () => {
  for (const change of [
    (repo: TestRepo) => repo.git('config', 'core.autocrlf', 'true'),
    (repo: TestRepo) => repo.git('config', '--global', 'filter.upper.smudge', 'tr a-z A-Z'),
    (repo: TestRepo) => repo.git('sparse-checkout', 'set', 'd'),
    (repo: TestRepo) => repo.write('.git/info/attributes', '*.txt eol=crlf\n'),
  ]) {
    const { repo, lib } = pooled({ 'a/a.txt': 'one\n', 'd/b.txt': 'two\n' })
    await lib.pool()
    const [old = ''] = slotsOf(repo)
    change(repo)
    const { task } = await lib.start({ task: 'T1' })
    expect(slotsOf(repo)).toEqual([old])
    expect(exactly(task.path)).toEqual(fresh(repo))
    expect(await lib.pool()).toEqual({ slots: 1, made: 1 })
    expect(slotsOf(repo)).not.toContain(old)
  }
})

test('L14: a slot that somebody has touched, or that is not whole, is never handed out', async () => {
  const inSlot = (repo: TestRepo, name: string) => path.join(poolOf(repo), slotsOf(repo)[0] ?? '', name)
  for (const spoil of [
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'files/a.txt'), 'evil\n'),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'files/extra.txt'), 'evil\n'),
    (repo: TestRepo) => rmSync(inSlot(repo, 'files/d'), { recursive: true }),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'files/d/more.txt'), 'evil\n'),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'files/d/e/c.txt'), 'evil\n'),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'files/d/e/more.txt'), 'evil\n'),
    (repo: TestRepo) => chmodSync(inSlot(repo, 'files/d/e/c.txt'), 0o755),
    (repo: TestRepo) => chmodSync(inSlot(repo, 'files/a.txt'), 0o755),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'git/index'), ''),
    (repo: TestRepo) => writeFileSync(inSlot(repo, 'task/index'), ''),
    (repo: TestRepo) => rmSync(inSlot(repo, 'slot.json')),
    (repo: TestRepo) => renameSync(inSlot(repo, ''), `${inSlot(repo, '').replace(/\/$/, '')}.making`),
  ]) {
    const { repo, lib } = pooled({ 'a.txt': 'one\n', 'd/b.txt': 'two\n', 'd/e/c.txt': 'three\n' })
    await lib.pool()
    spoil(repo)
    const { task } = await lib.start({ task: 'T1' })
    expect(exactly(task.path)).toEqual(fresh(repo))
    expect(await lib.pool()).toEqual({ slots: 1, made: 1 })
    expect(slotsOf(repo)).toHaveLength(1)
  }
})

test('L14: pool.size is how many there are; 0 and --clear take them away', async () => {
  const { repo, lib } = pooled(undefined, 3)
  expect(await lib.pool()).toEqual({ slots: 3, made: 3 })
  const fewer = withEnv(repo, { OFFSHOOT_POOL_SIZE: '1' })
  expect((await offshoot(fewer, 'pool', '--json')).json).toEqual({ ok: true, slots: 1, made: 0 })
  expect(slotsOf(repo)).toHaveLength(1)
  expect((await offshoot(repo, 'pool', '--clear', '--json')).json).toEqual({ ok: true, slots: 0, made: 0 })
  expect(slotsOf(repo)).toEqual([])
  const off = withEnv(repo, { OFFSHOOT_POOL_SIZE: '0' })
  expect((await offshoot(off, 'start', 'T1', '--json')).code).toBe(0)
  expect(slotsOf(repo)).toEqual([])
})

test('L14: after a start a process of its own fills the pool, and the next start takes from it', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_POOL_SIZE: '1' })
  await offshoot(repo, 'start', 'T1')
  await expect
    .poll(() => slotsOf(repo).filter((name) => !name.includes('.')), { timeout: 60_000 })
    .toHaveLength(1)
  const ino = lstatSync(path.join(poolOf(repo), slotsOf(repo)[0] ?? '', 'files/a.txt')).ino
  const { task } = (await offshoot(repo, 'start', 'T2', '--json')).json
  expect(lstatSync(path.join(task.path, 'a.txt')).ino).toBe(ino)
  // The process that fills it again must not outlive the folder.
  await expect
    .poll(() => slotsOf(repo).filter((name) => !name.includes('.')), { timeout: 60_000 })
    .toHaveLength(1)
  await untilFilled(repo)
})

/** Waits for the process that fills the pool: emptying it takes the same lock. */
async function untilFilled(repo: TestRepo): Promise<void> {
  const ports = compose({ env: repo.env })
  await emptyPool(ports, await requireRepo(ports, repo.dir))
  await ports.close()
}

test('L14, S2: 50 starts at once with a pool of 4 make 50 workspaces, none of them shared', {
  timeout: 600_000,
}, async () => {
  const { repo, lib } = pooled({ 'a.txt': 'one\n', 'd/b.txt': 'two\n' }, 4)
  expect((await lib.pool()).slots).toBe(4)
  const slots = slotsOf(repo).map((name) => lstatSync(path.join(poolOf(repo), name, 'files/a.txt')).ino)
  const many = withEnv(repo, { OFFSHOOT_LIMITS_PER_REPO: '100', OFFSHOOT_LOCK_WAIT_SECONDS: '600' })
  const libs = Array.from({ length: 5 }, () => library(many, { background: false }))
  const startAll = libs.flatMap((one, m) =>
    Array.from({ length: 10 }, (_, n) => one.start({ task: `T${m}-${n}` })),
  )
  const started = await Promise.all(startAll)
  const paths = new Set(started.map(({ task }) => task.path))
  expect(paths.size).toBe(50)
  expect(workspaceFolders(repo).filter((folder) => !folder.endsWith('.pool'))).toHaveLength(50)
  const inodes = [...paths].map((folder) => lstatSync(path.join(folder, 'a.txt')).ino)
  expect(new Set(inodes).size).toBe(50)
  expect(slots.every((ino) => inodes.includes(ino))).toBe(true)
  expect(slotsOf(repo)).toEqual([])
  for (const folder of paths) expect(inFolder(repo, folder).git('status', '--porcelain')).toBe('')
})

test('L14, R5: what a killed filling leaves is gone after the next command', async () => {
  const { repo, lib } = pooled()
  await lib.start({ task: 'T1' })
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const child = spawn(process.execPath, [bin, 'pool'], { cwd: repo.dir, env: repo.env, stdio: 'ignore' })
  const isMaking = () => slotsOf(repo).some((name) => name.endsWith('.making'))
  await expect.poll(isMaking, { timeout: 60_000, interval: 1 }).toBe(true)
  child.kill('SIGKILL')
  await new Promise((resolve) => child.on('close', resolve))
  await lib.recover()
  expect(slotsOf(repo).filter((name) => name.includes('.'))).toEqual([])
})

test('L14: slots made otherwise are left out, those of the wanted commit come first', () => {
  const slot = (name: string, commit: string, conversions: string) => ({
    name,
    commit,
    conversions,
    look: '',
  })
  const slots = [slot('a', 'c1', 'x'), slot('b', 'c2', 'y'), slot('c', 'c2', 'x')]
  expect(fittingSlots(slots, 'c2', 'x').map(({ name }) => name)).toEqual(['c', 'a'])
  expect(fittingSlots(slots, 'c2', undefined)).toEqual([])
})
