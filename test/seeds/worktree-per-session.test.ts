/**
 * Scenarios that a tool which gives each session of an agent a worktree of its own must pass, under the names by which
 * they are known. A session is a task here; the ids say which rule a scenario is read by. How many seconds a session takes
 * to begin (Success 5) is shown by `npm run bench`, which measures it again and again on large repositories: a test on a
 * machine that others use as well could only show how busy that machine is.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { compose } from '../../src/compose/full.ts'
import type { FileSystem } from '../../src/core/ports/files.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { testClock } from '../support/clock.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { killWhen } from '../support/kill-when.ts'
import { leftBehind } from '../support/left-behind.ts'
import { noise } from '../support/random.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  inFolder,
  library,
  linkedWorktrees,
  withEnv,
  workspaceFolders,
} from '../support/workspace.ts'

/** The command must succeed. */
async function ok(repo: TestRepo, verb: string, ...args: string[]) {
  const { code, json, stderr } = await offshoot(repo, verb, '--json', ...args)
  expect({ code, stderr, ok: json?.ok }).toEqual({ code: 0, stderr: '', ok: true })
  return json
}

/** A session in which an agent has written some files, each with a tool call of its own. */
async function session(files: Record<string, string | Uint8Array> = {}, repo = testRepo()) {
  const { task } = await ok(repo, 'start', 'session')
  const at = (name: string) => path.join(task.path as string, name)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(at(name), content)
    await ok(repo, 'checkpoint', 'session', '--tool', 'write_file', '--summary', `Create ${name}`)
  }
  return { repo, task, at, mine: (name: string) => path.join(repo.dir, name) }
}

/** Edits of the user's in every layer. */
function busyRepo(): TestRepo {
  const repo = testRepo({ 'a.txt': 'one\n', 'b.txt': 'two\n', '.gitignore': '*.log\n' })
  repo.write('a.txt', 'staged\n')
  repo.git('add', 'a.txt')
  repo.write('a.txt', 'changed since\n')
  repo.write('b.txt', 'changed\n')
  repo.write('untracked.txt', 'untracked\n')
  repo.write('run.log', 'ignored\n')
  return repo
}

/** Starts another session, as of so many minutes from now. */
async function startLater(repo: TestRepo, minutes: number, task: string): Promise<void> {
  const ports = compose({ env: repo.env, clock: testClock(minutes / 1440) })
  await call(ports, 'task.start', { repo: repo.dir, task })
  await ports.close()
}

describe('Update Existing Tests', () => {
  test('Verify worktree created in temp directory (L4: in the state folder, which no cleaner of temp files empties)', async () => {
    const { repo, task } = await session()
    expect(task.path.startsWith(path.join(repo.home, 'state', 'workspaces') + path.sep)).toBe(true)
    expect(statSync(path.join(repo.home, 'state')).mode & 0o777).toBe(0o700)
    const { OFFSHOOT_HOME: _, ...env } = repo.env
    const usual = { ...repo, env: { ...env, HOME: repo.home } }
    expect((await ok(usual, 'start', 'usual')).task.path).toContain(
      path.join(repo.home, '.local/state/offshoot/workspaces'),
    )
  })

  test('Verify user workspace never changes (P1, L1)', async () => {
    const repo = busyRepo()
    const before = fingerprint(repo)
    await session({ 'ai.txt': 'ai\n' }, repo)
    await ok(
      repo,
      'exec',
      'session',
      '--',
      'sh',
      '-c',
      'echo more >> a.txt; rm b.txt; echo x > untracked.txt',
    )
    await ok(repo, 'rewind', 'session', '--to', '1')
    expect(fingerprint(repo)).toEqual(before)
  })

  test('Verify patch application on accept (A1, A3: three ways, beside the edits of the user)', async () => {
    const lines = (change: Record<number, string>) =>
      Array.from({ length: 9 }, (_, n) => `${change[n] ?? n}\n`).join('')
    const { repo, at, mine } = await session({}, testRepo({ f: lines({}) }))
    writeFileSync(mine('f'), lines({ 1: 'mine' }))
    writeFileSync(at('f'), lines({ 7: 'ai' }))
    const index = checkoutState(repo).index
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('f'), 'utf8')).toBe(lines({ 1: 'mine', 7: 'ai' }))
    expect(checkoutState(repo).index).toBe(index)
  })

  test('Verify worktree cleanup (A6, R1: folder and branch go, and undo brings them back)', async () => {
    const { repo, task, at } = await session({ 'ai.txt': 'ai\n' })
    await ok(repo, 'reject', 'session')
    expect([existsSync(task.path), linkedWorktrees(repo), branches(repo)]).toEqual([false, [], ['main']])
    await ok(repo, 'undo')
    expect(readFileSync(at('ai.txt'), 'utf8')).toBe('ai\n')
    expect(branches(repo)).toEqual(['main', 'offshoot/session'])
  })
})

describe('New Worktree-Specific Tests', () => {
  test('BeginSession_CreatesWorktreeInTempDirectory (L1, L4: ready when start answers, and no temp directory)', async () => {
    const { repo, task } = await session()
    expect(linkedWorktrees(repo)).toEqual([{ path: task.path, branch: 'offshoot/session', head: task.head }])
    expect(path.relative(path.join(repo.home, 'state'), task.path)).toMatch(/^workspaces\//)
    expect(repo.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('AcceptSession_AppliesChangesToUserWorkspace_LeavesUncommitted (A1, A6)', async () => {
    const { repo, task, mine } = await session({ 'test.txt': 'content' })
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('test.txt'), 'utf8')).toBe('content')
    expect(repo.git('status', '--porcelain')).toBe('?? test.txt\n')
    expect(repo.git('log', '--format=%s')).toBe('First commit\n')
    expect([existsSync(task.path), linkedWorktrees(repo), branches(repo)]).toEqual([false, [], ['main']])
  })

  test('RejectSession_LeavesUserWorkspaceUntouched (R1, P1)', async () => {
    const repo = busyRepo()
    const before = fingerprint(repo)
    const { task, mine } = await session({ 'ai-file.txt': 'ai content' }, repo)
    await ok(repo, 'reject', 'session')
    expect(fingerprint(repo)).toEqual(before)
    expect([existsSync(mine('ai-file.txt')), existsSync(task.path)]).toEqual([false, false])
  })

  test('CleanupOrphanedSessions_RemovesOrphanedWorktrees (R5, L6: what is provably ours and dead, and nothing else)', async () => {
    const files = Array.from({ length: 1500 }, (_, n) => [`folder-${n % 30}/file-${n}`, `${n}\n`])
    const repo = testRepo(Object.fromEntries(files))
    const foreign = path.join(repo.home, 'state', 'workspaces', 'by-hand')
    repo.git('worktree', 'add', '--quiet', '-b', 'by-hand', foreign)
    const before = fingerprint(repo)
    // As soon as git knows of the second worktree, the start is half-way.
    const registered = () => linkedWorktrees(repo).length > 1
    await killWhen(repo, ['start', 'orphan'], registered)
    expect(registered()).toBe(true)
    const { recovered } = await ok(repo, 'recover')
    expect(recovered).toMatchObject([{ task: 'orphan', verdict: 'rolled back' }])
    expect(linkedWorktrees(repo).map((worktree) => worktree.branch)).toEqual(['by-hand'])
    expect(branches(repo)).toEqual(['by-hand', 'main'])
    expect(existsSync(path.join(foreign, 'folder-0'))).toBe(true)
    expect(fingerprint(repo)).toEqual(before)
    expect((await ok(repo, 'start', 'orphan')).reused).toBe(false)
  })
})

describe('Implementation Steps', () => {
  test('2.2: a tool that changed nothing makes no commit (K2)', async () => {
    const { repo } = await session({ 'ai.txt': 'ai\n' })
    const tip = repo.git('rev-parse', 'offshoot/session')
    expect((await ok(repo, 'checkpoint', 'session', '--tool', 'read_file')).created).toBe(false)
    expect(repo.git('rev-parse', 'offshoot/session')).toBe(tip)
    expect((await ok(repo, 'log', 'session')).checkpoints).toHaveLength(1)
  })

  test('2.3: a patch that does not apply changes nothing, and the session goes on (A3)', async () => {
    const { repo, at, task } = await session({ 'a.txt': 'ai\n' }, testRepo())
    repo.write('a.txt', 'mine\n')
    const before = fingerprint(repo)
    const { code, json } = await offshoot(repo, 'accept', 'session', '--json')
    expect([code, json.error]).toMatchObject([
      4,
      { code: 'WT_011', data: { conflicts: [{ path: 'a.txt', kind: 'content' }] } },
    ])
    expect(fingerprint(repo)).toEqual(before)
    expect((await ok(repo, 'list')).tasks).toMatchObject([{ id: 'session', path: task.path }])
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('ai\n')
  })

  test('5.2: sessions of an older version are told, and set aside with every byte of them (R8)', async () => {
    const { repo } = await session()
    const home = path.join(repo.home, 'state')
    const state = '{"SessionId":"1","ShadowBranch":"ai/session-1","OriginalBranch":"main"}\n'
    mkdirSync(path.join(home, 'git-sessions'))
    writeFileSync(path.join(home, 'git-sessions', '1.json'), state)
    const found = async () =>
      (await offshoot(repo, 'doctor', '--json')).json.checks.filter(
        ({ status }: { status: string }) => status !== 'ok',
      )
    expect(await found()).toMatchObject([
      {
        name: 'old state',
        status: 'warn',
        message: `git-sessions in ${home} is not of this version`,
        hint: 'offshoot repair sets it aside.',
      },
    ])
    expect(readFileSync(path.join(home, 'git-sessions', '1.json'), 'utf8')).toBe(state)
    await ok(repo, 'repair')
    expect(await found()).toEqual([])
    const [aside = ''] = readdirSync(path.join(home, 'aside'))
    expect(readFileSync(path.join(home, 'aside', aside, 'git-sessions', '1.json'), 'utf8')).toBe(state)
    expect((await ok(repo, 'list')).tasks).toMatchObject([{ id: 'session' }])
  })
})

describe('Testing Checklist', () => {
  test('Worktree created successfully (L1)', async () => {
    const { repo, task, at } = await session()
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\n')
    expect(inFolder(repo, task.path).git('status', '--porcelain', '--branch')).toBe('## offshoot/session\n')
  })

  test('User workspace never changes during session (P1: while the agent runs)', async () => {
    const repo = busyRepo()
    const before = fingerprint(repo)
    const lib = library(repo)
    await lib.start({ task: 'session' })
    await lib.task('session').run('agent', async ({ workspace, wrap }) => {
      const tools = wrap({ write: (text: string) => writeFileSync(path.join(workspace, 'a.txt'), text) })
      for (const text of ['one', 'two']) {
        await tools.write(text)
        expect(fingerprint(repo)).toEqual(before)
      }
    })
    expect(fingerprint(repo)).toEqual(before)
  })

  test('FileSystem written by tools appear in worktree (K1: and each tool call is a commit)', async () => {
    const { repo, at } = await session({ 'one.txt': '1\n', 'two.txt': '2\n' })
    expect([readFileSync(at('one.txt'), 'utf8'), readFileSync(at('two.txt'), 'utf8')]).toEqual(['1\n', '2\n'])
    expect(repo.git('log', '--format=%s', 'main..offshoot/session')).toBe(
      'AI Tool: write_file - Create two.txt\nAI Tool: write_file - Create one.txt\n',
    )
  })

  test('Accept applies changes to user workspace (unstaged) (A1)', async () => {
    const repo = busyRepo()
    const { mine } = await session({ 'ai.txt': 'ai\n' }, repo)
    const before = checkoutState(repo)
    await ok(repo, 'accept', 'session')
    const after = checkoutState(repo)
    expect({ ...after, files: before.files }).toEqual(before)
    expect(after.files).toEqual({ ...before.files, 'ai.txt': after.files['ai.txt'] })
    expect(readFileSync(mine('ai.txt'), 'utf8')).toBe('ai\n')
  })

  test('Reject leaves user workspace untouched (R1)', async () => {
    const { repo } = await session({ 'a.txt': 'ai\n' }, busyRepo())
    const before = fingerprint(repo)
    await ok(repo, 'reject', 'session')
    expect(fingerprint(repo)).toEqual(before)
  })

  test.each(['accept', 'reject'])('Worktree cleaned up after accept/reject (A6, R1): %s', async (verb) => {
    const { repo, task } = await session({ 'ai.txt': 'ai\n' })
    await ok(repo, verb, 'session')
    expect([existsSync(task.path), linkedWorktrees(repo), branches(repo)]).toEqual([false, [], ['main']])
    expect((await ok(repo, 'list')).tasks).toEqual([])
  })

  test('Orphaned worktree cleanup works (R5, L7: what is ours, dead and in the vault goes; a folder that vanished is told, and made again)', async () => {
    const { repo, task, at } = await session({ 'ai.txt': 'ai\n' })
    const orphan = await leftBehind(repo, library(repo), 'closed')
    rmSync(task.path, { recursive: true })
    const { recovered, reported } = await ok(repo, 'recover')
    expect(recovered).toContainEqual(expect.objectContaining({ task: 'closed', verdict: 'quarantined' }))
    expect([
      existsSync(orphan.path),
      linkedWorktrees(repo).some(({ path: there }) => there === orphan.path),
    ]).toEqual([false, false])
    expect(reported).toMatchObject([{ name: 'task session', message: `its workspace ${task.path} is gone` }])
    const { events } = await ok(repo, 'audit', '--task', 'session')
    expect(events).toContainEqual(
      expect.objectContaining({
        what: 'orphan.found',
        detail: expect.stringContaining(`missing ${task.path}`),
      }),
    )
    expect((await ok(repo, 'start', 'session')).recreated).toBe(true)
    expect(readFileSync(at('ai.txt'), 'utf8')).toBe('ai\n')
  })

  test('Multi-file changes work correctly (A1, P3)', async () => {
    const base = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n % 4}/f${n}`, `${n}\n`]))
    const { repo, mine } = await session({}, testRepo(base))
    const before = checkoutState(repo)
    const script = 'for f in d0/*; do echo changed >> $f; done; rm -r d1; mv d2 moved; echo new > d3/new'
    await ok(repo, 'exec', 'session', '--', 'sh', '-c', script)
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('d0/f0'), 'utf8')).toBe('0\nchanged\n')
    expect([existsSync(mine('d1')), existsSync(mine('d2'))]).toEqual([false, false])
    expect(readFileSync(mine('moved/f2'), 'utf8')).toBe('2\n')
    expect(readFileSync(mine('d3/new'), 'utf8')).toBe('new\n')
    await ok(repo, 'undo')
    expect(checkoutState(repo)).toEqual(before)
  })

  test('Binary files handled properly (K5)', async () => {
    const content = Buffer.concat([Buffer.from([0, 255, 13, 10, 10, 13, 0]), noise(5000)])
    const { repo, mine } = await session({ 'image.bin': content })
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('image.bin'))).toEqual(content)
  })

  test('Large files (>100MB) work (K5)', async () => {
    const sum = (file: string) => createHash('sha1').update(readFileSync(file)).digest('hex')
    const { repo, at, mine } = await session()
    writeFileSync(at('large.bin'), Buffer.alloc(101 * 1024 * 1024, noise(1024 * 1024)))
    const before = sum(at('large.bin'))
    await ok(repo, 'checkpoint', 'session')
    await ok(repo, 'accept', 'session')
    expect(sum(mine('large.bin'))).toBe(before)
  })

  const systems: Partial<Record<NodeJS.Platform, string>> = {
    darwin: 'macOS',
    linux: 'Linux',
    win32: 'Windows',
  }
  test(`Works on ${systems[process.platform] ?? process.platform} (S5: from start to undo, where the tests run)`, async () => {
    const { repo, mine } = await session({ 'ai.txt': 'ai\n' })
    const before = checkoutState(repo)
    await ok(repo, 'accept', 'session', '--as', 'keep-branch')
    expect([repo.git('show', 'offshoot/session:ai.txt'), existsSync(mine('ai.txt'))]).toEqual(['ai\n', false])
    await ok(repo, 'undo')
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('ai.txt'), 'utf8')).toBe('ai\n')
    await ok(repo, 'undo')
    expect(checkoutState(repo)).toEqual(before)
    const { checks } = await ok(repo, 'doctor')
    expect(checks.filter((check: { status: string }) => check.status === 'fail')).toEqual([])
  })

  test.each([
    ['that say which files they write', true],
    ['that do not say so', false],
  ])(
    'Concurrent tool execution safe (K3, K1: no file is lost, and every call is named): tools %s',
    async (_, say) => {
      const repo = testRepo()
      const lib = library(repo)
      await lib.start({ task: 'session' })
      const task = lib.task('session')
      const names = Array.from({ length: 10 }, (_, n) => `file-${n}`)
      await task.run('agent', async ({ workspace, wrap }) => {
        const write = async (name: string) => writeFileSync(path.join(workspace, name), name)
        const tools = wrap({ write }, say ? { files: (_, name) => [name as string] } : {})
        await Promise.all(names.map((name) => tools.write(name)))
      })
      const steps = await task.log()
      expect(steps.map((step) => step.n)).toEqual(steps.map((_, n) => n + 1))
      expect(steps.flatMap((step) => step.files.map((file) => file.path)).sort()).toEqual(names)
      const textOf = ({ tool, summary }: { tool: string; summary: string }) => `${tool} ${summary}`
      const named = steps.flatMap((step) => (step.calls.length > 0 ? step.calls.map(textOf) : [textOf(step)]))
      expect(new Set(named)).toEqual(new Set(names.map((name) => `write ${name}`)))
    },
  )

  test('Process crash recovery verified (P2, L7: what the agent wrote before the crash lands)', async () => {
    const { repo, at, mine } = await session({ 'step.txt': 'step\n' })
    const before = fingerprint(repo)
    const agent = ['exec', 'session', '--', 'sh', '-c', 'echo work > .new; mv .new work.txt; sleep 300']
    await killWhen(repo, agent, () => existsSync(at('work.txt')))
    expect((await ok(repo, 'recover')).recovered).toMatchObject([{ task: 'session', verdict: 'finished' }])
    expect((await ok(repo, 'log', 'session')).checkpoints).toMatchObject([
      { files: [{ path: 'step.txt' }] },
      { tool: 'sweep', files: [{ path: 'work.txt' }] },
    ])
    expect((await ok(repo, 'show', 'session')).task).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^run by process \d+ did not end$/),
    })
    expect(fingerprint(repo)).toEqual(before)
    await ok(repo, 'accept', 'session')
    expect([readFileSync(mine('step.txt'), 'utf8'), readFileSync(mine('work.txt'), 'utf8')]).toEqual([
      'step\n',
      'work\n',
    ])
  })
})

describe('Success Criteria', () => {
  type Session = Awaited<ReturnType<typeof session>>
  const registration = ({ repo, task }: Session) =>
    path.join(repo.dir, '.git/worktrees', path.basename(task.path as string))
  const reject = async ({ repo }: Session) => void (await ok(repo, 'reject', 'session'))

  test.each<[string, (of: Session) => Promise<void>]>([
    ['nothing stands in the way', reject],
    [
      'the folder is gone',
      async (of) => {
        rmSync(of.task.path, { recursive: true })
        await reject(of)
      },
    ],
    [
      'the registration is gone',
      async (of) => {
        rmSync(registration(of), { recursive: true })
        await reject(of)
      },
    ],
    [
      'both are gone',
      async (of) => {
        rmSync(of.task.path, { recursive: true })
        rmSync(registration(of), { recursive: true })
        await reject(of)
      },
    ],
    [
      'somebody held the folder for a moment',
      async ({ repo, task }) => {
        let held = false
        const holding = (files: FileSystem): FileSystem => ({
          ...files,
          async rename(from, to) {
            if (held || from !== task.path) return files.rename(from, to)
            held = true
            throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' })
          },
        })
        const rejecting = library(repo, { around: { files: holding } }).reject({ task: 'session' })
        await expect(rejecting).rejects.toMatchObject({ code: 'WT_008', path: task.path })
        expect(held).toBe(true)
      },
    ],
  ])(
    '4: after the next command no folder, branch or registration of a rejected session is left: %s (R1, R5)',
    async (_, end) => {
      const made = await session({ 'ai.txt': 'ai\n' })
      const { repo } = made
      const before = fingerprint(repo)
      await end(made)
      const { task: next } = await ok(repo, 'start', 'next')
      expect(workspaceFolders(repo)).toEqual([next.path])
      expect(linkedWorktrees(repo).map((worktree) => worktree.path)).toEqual([next.path])
      expect(existsSync(registration(made))).toBe(false)
      expect(branches(repo)).toEqual(['main', 'offshoot/next'])
      expect((await ok(repo, 'list')).tasks).toMatchObject([{ id: 'next' }])
      expect(fingerprint(repo)).toEqual(before)
    },
  )
})

describe('Edge Cases & Considerations', () => {
  test('Disk Space: max concurrent sessions (L11: and the error says what to clean up)', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '1' })
    await ok(repo, 'start', 'one')
    const { code, json } = await offshoot(repo, 'start', 'two', '--json')
    expect([code, json.error.code]).toEqual([5, 'WT_003'])
    expect(json.error.hint).toContain('offshoot prune')
  })

  test('Disk Space: session timeout cleanup (R3: where it is asked for, and into the trash)', async () => {
    const { repo, task, at } = await session({ 'ai.txt': 'ai\n' })
    await startLater(repo, 31, 'other')
    expect(existsSync(task.path)).toBe(true)
    await startLater(withEnv(repo, { OFFSHOOT_AUTO_REVERT_IDLE: 'always' }), 31, 'another')
    expect([existsSync(task.path), branches(repo)]).toEqual([
      false,
      ['main', 'offshoot/another', 'offshoot/other'],
    ])
    const { notices } = await ok(repo, 'show', 'other')
    await ok(repo, 'undo', notices[0].operation)
    expect(readFileSync(at('ai.txt'), 'utf8')).toBe('ai\n')
  })

  test('Cross-Platform: a repository whose path has spaces, quotes and more in it (P3)', async () => {
    const folder = path.join(tempFolder(), `it's "odd" $HOME & ünïcode; -x`)
    const repo = testRepo({ 'a.txt': 'one\n' }, folder)
    const { mine, at } = await session({ 'a.txt': 'ai\n' }, repo)
    expect(at('').startsWith(folder)).toBe(true)
    const before = checkoutState(repo)
    await ok(repo, 'exec', 'session', '--', 'sh', '-c', 'echo more > more.txt')
    await ok(repo, 'accept', 'session')
    expect([readFileSync(mine('a.txt'), 'utf8'), readFileSync(mine('more.txt'), 'utf8')]).toEqual([
      'ai\n',
      'more\n',
    ])
    await ok(repo, 'undo')
    expect(checkoutState(repo)).toEqual(before)
    await ok(repo, 'reject', 'session')
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
  })

  test('Network Filesystems: that the sessions are on one is told, and where else they can be', async () => {
    const lib = (network: boolean) => {
      const readFreeSpace = async () => ({ free: 50, total: 100, network })
      return library(repo, { around: { files: (files) => ({ ...files, readFreeSpace }) } })
    }
    const { repo } = await session()
    const told = async (network: boolean) =>
      (await lib(network).doctor()).find(({ name }) => name === 'state folder')
    expect(await told(false)).toMatchObject({ status: 'ok' })
    expect(await told(true)).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('on a network file system'),
      hint: 'Name a folder on a local disk in OFFSHOOT_HOME.',
    })
  })

  test('Concurrent Sessions (L11: each has a worktree of its own, and lands by itself)', async () => {
    const repo = testRepo()
    for (const id of ['one', 'two']) {
      const { task } = await ok(repo, 'start', id)
      writeFileSync(path.join(task.path as string, `${id}.txt`), id)
    }
    for (const id of ['one', 'two']) await ok(repo, 'accept', id)
    expect(repo.git('status', '--porcelain')).toBe('?? one.txt\n?? two.txt\n')
  })
})

describe('Configuration Updates', () => {
  const off = { OFFSHOOT_DISABLED: '1' }
  const runs = (repo: TestRepo, ...args: string[]) =>
    offshoot(repo, 'run', '--json', ...args, '--', 'sh', '-c', 'echo ai > ai.txt; exit 3')

  test('Enabled (I6, L9: switched off, nothing is made, and the refusal names both ways to go on)', async () => {
    const repo = withEnv(testRepo(), off)
    const before = fingerprint(repo)
    const refused = [
      await offshoot(repo, 'start', 'session', '--json'),
      await runs(repo, '--task', 'session'),
      await offshoot(repo, 'exec', 'session', '--json', '--', 'touch', 'ai.txt'),
    ]
    expect(refused.map(({ code, json }) => [code, json.error.code])).toEqual(Array(3).fill([5, 'WT_017']))
    for (const { json } of refused.slice(1)) {
      expect(json.error.hint).toContain('--isolation direct')
      expect(json.error.hint).toContain('isolation.fallback: direct')
    }
    expect([linkedWorktrees(repo), branches(repo), workspaceFolders(repo)]).toEqual([[], ['main'], []])
    expect((await ok(repo, 'list')).tasks).toEqual([])
    expect(fingerprint(repo)).toEqual(before)
  })

  test.each([
    ['with isolation.fallback: direct', { ...off, OFFSHOOT_ISOLATION_FALLBACK: 'direct' }, []],
    ['with --isolation direct', off, ['--isolation', 'direct']],
    ['and with --isolation direct where it is on', {}, ['--isolation', 'direct']],
  ])('Enabled (L9: switched off, the work goes on in the folder itself %s)', async (_, env, flags) => {
    const repo = withEnv(testRepo(), env)
    const { code, json } = await runs(repo, ...flags)
    expect([code, json]).toEqual([3, { ok: true, direct: true, agent: 'command', exitCode: 3 }])
    expect(repo.git('status', '--porcelain')).toBe('?? ai.txt\n')
    expect([linkedWorktrees(repo), branches(repo), workspaceFolders(repo)]).toEqual([[], ['main'], []])
    const plain = await offshoot(repo, 'run', ...flags, '--', 'true')
    expect(plain.stderr).toMatch(/^notice: [^\n]*was not recorded and cannot be undone\.\n$/)
    expect((await ok(repo, 'list')).tasks).toEqual([])
  })

  test('Enabled (L9: a repository that switches itself off takes no isolation away)', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_ISOLATION_FALLBACK: 'direct' })
    repo.write('.offshoot.yaml', 'enabled: false\n')
    const { code, json } = await runs(repo)
    expect([code, json.error.code]).toEqual([5, 'WT_017'])
    expect(existsSync(path.join(repo.dir, 'ai.txt'))).toBe(false)
  })

  test('AutoStartSession (G1: run makes the session that it needs, exec wants one that is there)', async () => {
    const repo = testRepo()
    expect((await offshoot(repo, 'exec', 'session', '--', 'true')).code).toBe(3)
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
    const { code, json } = await offshoot(repo, 'run', '--task', 'session', '--json', '--', 'true')
    expect([code, json.task.id]).toEqual([0, 'session'])
    expect(linkedWorktrees(repo)).toMatchObject([{ path: json.task.path, branch: 'offshoot/session' }])
    expect((await offshoot(repo, 'exec', 'session', '--', 'true')).code).toBe(0)
  })

  test('SessionTimeoutMinutes, AutoRevertOnTimeout (R3: after so many minutes, or never)', async () => {
    const { repo, task } = await session({ 'ai.txt': 'ai\n' })
    const idle = (which: string) =>
      withEnv(repo, { OFFSHOOT_AUTO_REVERT_IDLE: which, OFFSHOOT_AUTO_REVERT_IDLE_MINUTES: '60' })
    await startLater(idle('always'), 59, 'early')
    await startLater(idle('never'), 61, 'never')
    expect(existsSync(task.path)).toBe(true)
    await startLater(idle('always'), 61, 'late')
    expect([existsSync(task.path), branches(repo)]).toEqual([
      false,
      ['main', 'offshoot/early', 'offshoot/late', 'offshoot/never'],
    ])
  })

  test.each([
    ['OFFSHOOT_HOME', 'mine', 'mine'],
    ['XDG_STATE_HOME', 'xdg', 'xdg/offshoot'],
    ['nothing', '', '.local/state/offshoot'],
  ])('StateStorePath (I6, S6: for the user alone): %s says where', async (variable, value, expected) => {
    const plain = testRepo()
    const { OFFSHOOT_HOME: _, ...env } = plain.env
    const home = path.join(plain.home, expected)
    const given = value === '' ? {} : { [variable]: path.join(plain.home, value) }
    const repo = { ...plain, env: { ...env, ...given } }
    const { task } = await ok(repo, 'start', 'session')
    expect(task.path.startsWith(path.join(home, 'workspaces') + path.sep)).toBe(true)
    expect(statSync(home).mode & 0o777).toBe(0o700)
    expect(statSync(path.join(home, 'state.db')).mode & 0o777).toBe(0o600)
    await ok(repo, 'exec', 'session', '--', 'sh', '-c', 'echo ai > ai.txt')
    await ok(repo, 'exec', 'session', '--', 'sh', '-c', 'echo more > more.txt')
    // The files of a workspace are the agent's, and git gives objects permissions of its own.
    const files = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => !/\/(?:workspaces|objects|compiled)\//.test(file))
    expect(files.filter((file) => /\.lock$|\/index$/.test(file)).length).toBeGreaterThan(2)
    expect(files.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([])
    expect(existsSync(path.join(plain.home, 'state'))).toBe(false)
  })

  test('BranchPrefix (L3)', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_BRANCH_NAME: 'ai/session-{id8}' })
    expect((await ok(repo, 'start', 'session')).task.branch).toMatch(/^ai\/session-[0-9a-z]{8}$/)
  })

  test('WorktreeBasePath (L4)', async () => {
    const repo = testRepo()
    const base = path.join(repo.home, 'elsewhere')
    const { task } = await ok(withEnv(repo, { OFFSHOOT_WORKSPACE_BASE: base }), 'start', 'session')
    expect(path.dirname(task.path as string)).toBe(base)
  })

  test.each([
    ['the branch stays', { OFFSHOOT_KEEP_FAILED: '1' }],
    ['without it the branch goes', {}],
  ])('KeepFailedSessionBranches (R4): %s, and undo brings the session back', async (_, env) => {
    const repo = withEnv(testRepo(), { OFFSHOOT_AUTO_REVERT_FAILURE: 'always', ...env })
    await offshoot(repo, 'run', '--task', 'session', '--', 'sh', '-c', 'echo ai > ai.txt; exit 1')
    const keeps = 'OFFSHOOT_KEEP_FAILED' in env
    expect([branches(repo), linkedWorktrees(repo)]).toEqual([
      keeps ? ['main', 'offshoot/session'] : ['main'],
      [],
    ])
    if (keeps) expect(repo.git('show', 'offshoot/session:ai.txt')).toBe('ai\n')
    await ok(repo, 'undo')
    expect(repo.git('show', 'offshoot/session:ai.txt')).toBe('ai\n')
  })
})
