import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { autoRevert } from '../../src/core/closing/auto-revert.ts'
import type { Locks } from '../../src/core/ports/locks.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, library, withEnv } from '../support/workspace.ts'
import { append } from '../../src/core/tasks/records.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** A user with work of their own in hand, and a session in their checkout. */
async function session() {
  const repo = testRepo({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  repo.write('b.txt', 'mine\n')
  repo.write('untracked.txt', 'mine\n')
  const before = fingerprint(repo)
  const lib = library(repo)
  await lib.start({ task: 'S', isolation: 'branch' })
  return { repo, lib, before }
}

/** A run as a process of its own, which writes `work.txt` and waits. */
function running(repo: TestRepo, task: string, workspace: string) {
  const args = ['run', '--task', task, '--', 'sh', '-c', 'trap "" TERM; echo work > work.txt; sleep 300']
  const child = spawn(process.execPath, [bin, ...args], { cwd: repo.dir, env: repo.env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const begun = until(() => existsSync(path.join(workspace, 'work.txt')), 'the command has begun')
  return { child, ended, begun }
}

/** As if it had been used for the last time so long ago. */
async function age(repo: TestRepo, minutes: number): Promise<void> {
  const ports = compose({ env: repo.env })
  const at = new Date(Date.now() - minutes * 60_000).toISOString()
  for (const { uid } of await ports.store.readTasks({ open: true }))
    await append(ports, uid, { type: 'recreate.done' }, at)
  void ports.close()
}

describe('R3: a session on a shadow branch is given up by itself', () => {
  test('when a run fails: the checkout is as it was, and undo brings the session back', async () => {
    const { repo, lib, before } = await session()
    const fails = lib.task('S').run('agent', async ({ workspace }) => {
      writeFileSync(path.join(workspace, 'work.txt'), 'work\n')
      throw new Error('the agent broke')
    })
    await expect(fails).rejects.toThrow('the agent broke')
    expect(fingerprint(repo)).toEqual(before)
    const notices = await lib.notices()
    expect(notices).toMatchObject([
      { task: 'S', message: 'S was rejected automatically (failure): the agent broke' },
    ])
    expect(await lib.notices()).toEqual([])
    await lib.undo(notices[0]?.operation)
    expect(readFileSync(path.join(repo.dir, 'work.txt'), 'utf8')).toBe('work\n')
    // What was taken back is not done again for the same reason.
    await lib.start({ task: 'other' })
    expect((await lib.show('S')).state).toBe('failed')
  })

  test('what was given up is told by the next command that says anything, also by one that fails', async () => {
    const { repo } = await session()
    await age(repo, 45)
    expect((await offshoot(repo, 'start', 'other', '--quiet')).stderr).toBe('')
    const { code, stderr } = await offshoot(repo, 'checkpoint', 'S')
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('notice: S was rejected automatically (idle)'),
    ])
    expect((await offshoot(repo, 'checkpoint', 'S')).stderr).not.toContain('notice')
  })

  test('when its command fails, and the next command tells', async () => {
    const { repo, before } = await session()
    const ran = await offshoot(
      repo,
      'run',
      '--task',
      'S',
      '--json',
      '--',
      'sh',
      '-c',
      'echo x > x.txt; exit 3',
    )
    expect(ran).toMatchObject({ code: 3, json: { task: { state: 'rejected' }, notices: [{ task: 'S' }] } })
    expect(fingerprint(repo)).toEqual(before)
    expect((await offshoot(repo, 'doctor')).stderr).toBe('')
  })

  test('but not when a command fails that was run in it by exec', async () => {
    const { repo } = await session()
    const ran = await offshoot(repo, 'exec', 'S', '--json', '--', 'sh', '-c', 'echo x > x.txt; exit 3')
    expect(ran).toMatchObject({ code: 3, json: { task: { state: 'failed' } } })
    expect(repo.git('symbolic-ref', '--short', 'HEAD')).toBe('offshoot/S\n')
  })

  test('when it is not used for autoRevert.idleMinutes; not under the hands of a command that is about it', async () => {
    const { repo, before } = await session()
    repo.write('work.txt', 'work\n')
    await age(repo, 45)
    expect((await offshoot(repo, 'checkpoint', 'S', '--json')).json).toMatchObject({ created: true })
    await age(repo, 45)
    expect((await offshoot(repo, 'checkpoint', '--json')).json).toMatchObject({ created: false })
    const told = await offshoot(repo, 'start', 'other')
    expect(told.stderr).toMatch(
      /notice: S was rejected automatically \(idle\): nobody used it for 45 minutes\. offshoot undo \w{6}/,
    )
    expect(fingerprint(repo)).toEqual(before)
  })

  test('not by a command that only tells what it would do', async () => {
    const { repo } = await session()
    await offshoot(repo, 'start', 'other')
    await age(repo, 45)
    const before = fingerprint(repo)
    await offshoot(repo, 'prune', '--dry-run')
    await offshoot(repo, 'accept', 'other', '--dry-run')
    expect(fingerprint(repo)).toEqual(before)
  })

  test('not when somebody has used it just before its turn came', async () => {
    const { repo, lib } = await session()
    await age(repo, 45)
    const ports = compose({ env: repo.env })
    onTestFinished(() => ports.close())
    const [task] = await ports.store.readTasks({ open: true })
    const hold: Locks['hold'] = async (...args) => {
      await append(ports, task!.uid, { type: 'recreate.done' }, new Date().toISOString())
      return ports.locks.hold(...args)
    }
    await autoRevert({ ...ports, locks: { ...ports.locks, hold } }, { dir: repo.dir, byFolder: false })
    expect((await lib.show('S')).state).toBe('active')
    expect(await lib.notices()).toEqual([])
  })

  test('not while the user is on another branch in its checkout', async () => {
    const { repo, lib } = await session()
    repo.git('switch', '--quiet', '--create', 'mine')
    repo.write('work.txt', 'of the user\n')
    await age(repo, 45)
    const before = fingerprint(repo)
    await lib.start({ task: 'other' })
    expect(await lib.notices()).toMatchObject([
      { message: expect.stringContaining(`${repo.dir} is on mine, not on offshoot/S`) },
    ])
    expect(fingerprint(repo)).toEqual(before)
  })

  test('when the run is cancelled', async () => {
    const { repo, before } = await session()
    const { child, ended, begun } = running(repo, 'S', repo.dir)
    await begun
    child.kill('SIGTERM')
    expect(await ended).toBe(130)
    expect(fingerprint(repo)).toEqual(before)
  })

  test.each([['start', 'other'], ['recover']])(
    'when whoever ran it is killed, with the next command: %s',
    async (...command) => {
      const { repo, before } = await session()
      const { child, ended, begun } = running(repo, 'S', repo.dir)
      await begun
      child.kill('SIGKILL')
      await ended
      const { stderr } = await offshoot(repo, ...command)
      expect(stderr).toMatch(/notice: S was rejected automatically \(shutdown\)/)
      expect(fingerprint(repo)).toEqual(before)
    },
  )

  test('R5: while a run elsewhere goes on, which looks after everything again and again and is left alone itself', async () => {
    const { repo, before } = await session()
    const lib = library(repo, { flags: { recover: { everyMinutes: 0.001 } } })
    await lib.start({ task: 'other' })
    const head = path.join(repo.dir, '.git/HEAD')
    await lib.task('other').run('agent', async ({ workspace, wrap }) => {
      const write = async (name: string) => writeFileSync(path.join(workspace, name), 'work\n')
      const tools = wrap({ write })
      await tools.write('before.txt')
      const { child, ended, begun } = running(repo, 'S', repo.dir)
      await begun
      child.kill('SIGKILL')
      await ended
      await until(() => readFileSync(head, 'utf8').includes('main'), 'the user is back on main')
      await tools.write('after.txt')
    })
    expect(fingerprint(repo)).toEqual(before)
    expect(await lib.notices()).toMatchObject([
      { message: expect.stringContaining('S was rejected automatically (shutdown)') },
    ])
    expect(await lib.show('other')).toMatchObject({ state: 'completed', checkpoints: 2 })
  })

  test('not by recover, however idle it is: that is about no task, and the user may be at work in the checkout', async () => {
    const { repo, lib } = await session()
    await age(repo, 45)
    await offshoot(repo, 'recover')
    expect((await lib.show('S')).state).toBe('active')
  })

  test('when asked twice to end, the command leaves at once and the next one finishes', async () => {
    const { repo, before } = await session()
    const { child, ended, begun } = running(repo, 'S', repo.dir)
    await begun
    // The command that runs ignores the first signal, and has some time to think about it.
    child.kill('SIGINT')
    child.kill('SIGTERM')
    expect(await ended).toBe(130)
    await offshoot(repo, 'start', 'other')
    expect(fingerprint(repo)).toEqual(before)
  })

  test('when another one is started; with autoRevert.newTask off that is refused', async () => {
    const { repo, lib, before } = await session()
    const strict = library(repo, { flags: { autoRevert: { newTask: false } } })
    await expect(strict.start({ task: 'S2', isolation: 'branch' })).rejects.toMatchObject({ code: 'WT_017' })
    await lib.start({ task: 'S2', isolation: 'branch' })
    expect(await lib.notices()).toMatchObject([
      {
        message:
          'S was rejected automatically (new task): S2 was started in its checkout, and has to be closed before S can come back',
      },
    ])
    await lib.reject({ task: 'S2' })
    expect(fingerprint(repo)).toEqual(before)
  })

  test('what stands in the way is told once, and nothing is written', async () => {
    const { repo, lib } = await session()
    repo.write('b.txt', 'of the agent\n')
    await lib.checkpoint({ task: 'S' })
    const moved = repo.git('commit-tree', '-p', 'main', '-m', 'Moved on', 'offshoot/S^{tree}').trim()
    repo.git('update-ref', 'refs/heads/main', moved)
    await age(repo, 45)
    await lib.start({ task: 'other' })
    expect(await lib.notices()).toMatchObject([
      { message: expect.stringContaining('could not be rejected automatically (idle)') },
    ])
    expect(repo.git('symbolic-ref', '--short', 'HEAD')).toBe('offshoot/S\n')
    await lib.checkpoint({ task: 'other' })
    expect(await lib.notices()).toEqual([])
  })
})

describe('R3: a task with a workspace of its own disturbs nobody', () => {
  const fails = ['sh', '-c', 'echo x > x.txt; exit 3']

  test('it stays, whatever happens, unless the settings say otherwise', async () => {
    const repo = testRepo()
    const lib = library(repo)
    await lib.run({ task: 'T1', create: true, command: fails })
    await age(repo, 1000)
    await lib.start({ task: 'T2' })
    expect((await lib.list()).map(({ id, state }) => [id, state])).toEqual([
      ['T2', 'active'],
      ['T1', 'failed'],
    ])
    expect(await lib.notices()).toEqual([])
  })

  test('R4: with autoRevert.failure: always it goes, and with keepFailed its branch stays', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_AUTO_REVERT_FAILURE: 'always' })
    await offshoot(repo, 'run', '--task', 'T1', '--', ...fails)
    expect(branches(repo)).toEqual(['main'])
    const keeps = withEnv(repo, { OFFSHOOT_KEEP_FAILED: '1' })
    await offshoot(keeps, 'run', '--task', 'T2', '--', ...fails)
    expect(branches(repo)).toEqual(['main', 'offshoot/T2'])
    expect(repo.git('show', 'offshoot/T2:x.txt')).toBe('x\n')
    expect((await offshoot(repo, 'list', '--json')).json.tasks).toEqual([])
  })
})
