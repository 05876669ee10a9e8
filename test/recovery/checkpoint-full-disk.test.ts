import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestRepo, tempFolder, testRepo } from '../support/repo.ts'
import { readFolder, readTree, stepCommits } from '../support/vault.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
    const target = args.at(-1) ?? ''
    onTestFinished(() => void execFileSync('umount', ['--lazy', target], { stdio: 'ignore' }))
    return true
  } catch {
    return false
  }
}

/** The state folder on a file system of its own, which is small; the workspaces are elsewhere. */
function smallHome(megabytes: number): TestRepo | undefined {
  const repo = testRepo()
  const home = path.join(repo.home, 'small')
  mkdirSync(home)
  if (!mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', home)) return undefined
  return withEnv(repo, { OFFSHOOT_HOME: home, OFFSHOOT_WORKSPACE_BASE: path.join(tempFolder(), 'base') })
}

function fillUp(folder: string): () => void {
  const file = path.join(folder, 'ballast')
  const handle = openSync(file, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; size = size > 4096 ? size / 2 : size - 4095) {
      try {
        for (;;) writeSync(handle, Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(handle)
  }
  return () => rmSync(file)
}

const mountable = process.platform === 'linux' && process.getuid?.() === 0

describe.skipIf(!mountable)('K4: a checkpoint that cannot be written', () => {
  test.each([
    ['a small file', 10],
    ['a big file', 6 * 1024 * 1024],
  ])(
    'K4: %s on a full disk: loud, nothing is lost, and it works again when there is room',
    async (_, size) => {
      const repo = smallHome(24)
      if (!repo) return console.log('skipped: no file system can be mounted here')
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1' })
      const workspace = inFolder(repo, task.path)
      workspace.write('a.txt', 'step 1\n')
      await lib.checkpoint({ task: 'T1' })
      workspace.write('new.bin', Buffer.alloc(size, 'x'))
      workspace.write('b.txt', 'not yet captured\n')
      const present = readFolder(task.path)
      const before = stepCommits(repo)
      const empty = fillUp(repo.env.OFFSHOOT_HOME ?? '')
      await expect(lib.checkpoint({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_014' })
      expect(readFolder(task.path)).toEqual(present)
      expect(stepCommits(repo)).toEqual(before)
      empty()
      const { created, checkpoint } = await lib.checkpoint({ task: 'T1' })
      expect(created).toBe(true)
      expect(readTree(repo, checkpoint.commit)).toEqual(present)
      expect(repo.git('show', `${checkpoint.published}:b.txt`)).toBe('not yet captured\n')
    },
  )

  test('K4: a vault that has become read-only: the task has failed and says why', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    workspace.write('a.txt', 'step 1\n')
    await lib.checkpoint({ task: 'T1' })
    const vaults = path.join(repo.env.OFFSHOOT_HOME ?? '', 'vaults')
    if (!mount('--bind', vaults, vaults)) return console.log('skipped: nothing can be mounted here')
    execFileSync('mount', ['-o', 'remount,bind,ro', vaults])
    workspace.write('b.txt', 'not yet captured\n')
    const present = readFolder(task.path)
    await expect(lib.checkpoint({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_022' })
    expect(await lib.find('T1')).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^a checkpoint could not be written: EROFS/),
    })
    expect(await lib.log('T1')).toHaveLength(1)
    await expect(lib.run({ task: 'T1', create: false, command: ['true'] })).rejects.toMatchObject({
      code: 'WT_022',
    })
    execFileSync('mount', ['-o', 'remount,bind,rw', vaults])
    const { created, checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(created).toBe(true)
    expect(readTree(repo, checkpoint.commit)).toEqual(present)
  })

  test('K4: a disk that fills up while a command runs: its work is in the workspace, then in a step', async () => {
    const repo = smallHome(24)
    if (!repo) return console.log('skipped: no file system can be mounted here')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const ballast = path.join(repo.env.OFFSHOOT_HOME ?? '', 'ballast')
    const script = `head -c 100000 /dev/urandom > work.bin; cat /dev/zero > '${ballast}' 2>/dev/null; true`
    const failing = lib.run(
      { task: 'T1', create: false, command: ['sh', '-c', script] },
      { onEvent: () => {} },
    )
    await expect(failing).rejects.toMatchObject({ code: 'WT_014' })
    const work = readFileSync(path.join(task.path, 'work.bin'))
    expect(work).toHaveLength(100_000)
    rmSync(ballast)
    await lib.recover()
    await lib.checkpoint({ task: 'T1' })
    const step = (await lib.log('T1')).at(-1)
    expect(step?.files).toEqual([{ path: 'work.bin', status: 'added' }])
    expect(readTree(repo, step?.commit ?? '')).toEqual(readFolder(task.path))
  })

  test("K4: a user's repository that is full: the step is there, and is published later", async () => {
    const outer = tempFolder()
    if (!mount('-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs', outer))
      return console.log('skipped: no mount')
    const made = testRepo({ 'a.txt': 'one\n' }, outer)
    const elsewhere = tempFolder()
    const repo = withEnv(made, { OFFSHOOT_HOME: path.join(elsewhere, 'state') })
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'b.txt'), 'two\n'.repeat(10_000))
    const empty = fillUp(outer)
    await expect(lib.checkpoint({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_014' })
    expect(await lib.log('T1')).toHaveLength(1)
    empty()
    await lib.checkpoint({ task: 'T1' })
    expect((await lib.log('T1'))[0]?.published).toBeDefined()
    expect(repo.git('show', '--stat', '--format=%s', 'offshoot/T1')).toContain('b.txt')
    repo.git('fsck', '--full', '--strict')
  })
})
