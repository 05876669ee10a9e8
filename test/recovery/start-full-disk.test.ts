import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import type { Vault } from '../../src/core/ports/vault.ts'
import { freeSpace } from '../../src/core/trash/free-space.ts'
import { noise } from '../support/random.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library, withEnv } from '../support/workspace.ts'

/** The state folder, workspaces included, on a small file system of its own. Undefined where none can be mounted. */
function smallHome(megabytes: number): TestRepo | undefined {
  const repo = testRepo()
  repo.write('big.bin', noise(6_000_000))
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Big')
  const home = path.join(repo.home, 'small')
  mkdirSync(home)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', home], {
      stdio: 'ignore',
    })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', home], { stdio: 'ignore' }))
  return withEnv(repo, { OFFSHOOT_HOME: home })
}

/** Fills the disk up but for so many bytes. Whoever else writes there must have come to an end. */
function leaveFree(home: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(home)
  writeFileSync(path.join(home, 'ballast'), Buffer.alloc(bavail * bsize - bytes))
}

test('R12: what earlier starts left that came to nothing is room that was made, what the last one left is not', async () => {
  const repo = testRepo()
  const failing = (vault: Vault): Vault => ({ ...vault, prepare: () => Promise.reject(new Error('no')) })
  const lib = library(repo, { around: { vault: failing }, flags: { pool: { size: 0 } } })
  for (const task of ['T1', 'T2', 'T3']) await expect(lib.start({ task })).rejects.toThrow('no')
  const ports = compose({ env: repo.env })
  onTestFinished(() => ports.close())
  expect([await freeSpace(ports), await freeSpace(ports)]).toEqual([2, 0])
})

const mountable = process.platform === 'linux' && process.getuid?.() === 0

describe.skipIf(!mountable)('R6, R12: a start on a full disk', () => {
  test('is tried again when the trash has given up what the vault has, and nothing is lost by it', async () => {
    const repo = smallHome(40)
    if (!repo) return console.log('skipped: no file system can be mounted here')
    const home = repo.env.OFFSHOOT_HOME ?? ''
    const before = library(repo)
    const { task } = await before.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'work.txt'), 'work\n')
    const { operation } = await before.reject({ task: 'T1' })
    await before.close()
    leaveFree(home, 4_000_000)
    const lib = library(repo)
    const second = await lib.start({ task: 'T2' })
    expect(readFileSync(path.join(second.task.path, 'big.bin'))).toHaveLength(6_000_000)
    await lib.remove({ task: 'T2' })
    execFileSync('rm', [path.join(home, 'ballast')])
    await lib.undo(operation)
    expect(readFileSync(path.join(task.path, 'work.txt'), 'utf8')).toBe('work\n')
  })

  test('so is a run that makes its task; its command is run once', async () => {
    const repo = smallHome(40)
    if (!repo) return console.log('skipped: no file system can be mounted here')
    const before = library(repo)
    await before.start({ task: 'T1' })
    await before.reject({ task: 'T1' })
    await before.close()
    leaveFree(repo.env.OFFSHOOT_HOME ?? '', 4_000_000)
    const ran = await library(repo).run(
      { task: 'T2', create: true, command: ['sh', '-c', 'echo once >> once.txt'] },
      { onEvent: () => {} },
    )
    expect(ran.task).toMatchObject({ id: 'T2', state: 'completed', runs: 1 })
    expect(readFileSync(path.join(ran.task.path, 'once.txt'), 'utf8')).toBe('once\n')
  })

  test('fails with WT_014 when there is nothing to give up, and leaves nothing behind', async () => {
    const repo = smallHome(24)
    if (!repo) return console.log('skipped: no file system can be mounted here')
    const home = repo.env.OFFSHOOT_HOME ?? ''
    const before = library(repo)
    const { task } = await before.start({ task: 'T1' })
    await before.close()
    leaveFree(home, 3_000_000)
    const lib = library(repo)
    await expect(lib.start({ task: 'T2' })).rejects.toMatchObject({ code: 'WT_014' })
    expect(existsSync(path.join(task.path, 'big.bin'))).toBe(true)
    expect((await lib.list()).map(({ id }) => id)).toEqual(['T1'])
    expect(repo.git('branch', '--list', 'offshoot/T2')).toBe('')
  })
})
