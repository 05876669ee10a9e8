/**
 * Scenarios that a tool which gives each session of an agent a worktree of its own must pass, under the names by which
 * they are known. A session is a task here; the ids say which rule a scenario is read by.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { call } from '../../src/api/call.ts'
import { compose } from '../../src/compose.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { killWhen } from '../support/kill-when.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, inFolder, library, linkedWorktrees, withEnv } from '../support/workspace.ts'

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

  test('Files written by tools appear in worktree (K1: and each tool call is a commit)', async () => {
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

  test('Orphaned worktree cleanup works (R5, L7: a folder that vanished is made again, and no record is dropped)', async () => {
    const { repo, task, at } = await session({ 'ai.txt': 'ai\n' })
    rmSync(task.path, { recursive: true })
    await ok(repo, 'recover')
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
    const content = Buffer.concat([Buffer.from([0, 255, 13, 10, 10, 13, 0]), randomBytes(5000)])
    const { repo, mine } = await session({ 'image.bin': content })
    await ok(repo, 'accept', 'session')
    expect(readFileSync(mine('image.bin'))).toEqual(content)
  })

  test('Large files (>100MB) work (K5)', async () => {
    const sum = (file: string) => createHash('sha1').update(readFileSync(file)).digest('hex')
    const { repo, at, mine } = await session()
    writeFileSync(at('large.bin'), Buffer.alloc(101 * 1024 * 1024, randomBytes(1024 * 1024)))
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
    const { repo } = await session({ 'ai.txt': 'ai\n' })
    const before = checkoutState(repo)
    await ok(repo, 'accept', 'session', '--as', 'keep-branch')
    await ok(repo, 'undo')
    await ok(repo, 'accept', 'session')
    await ok(repo, 'undo')
    expect(checkoutState(repo)).toEqual(before)
    const { checks } = await ok(repo, 'doctor')
    expect(checks.filter((check: { status: string }) => check.status === 'fail')).toEqual([])
  })

  test('Concurrent tool execution safe (K3)', async () => {
    const repo = testRepo()
    const lib = library(repo)
    await lib.start({ task: 'session' })
    const task = lib.task('session')
    const names = Array.from({ length: 10 }, (_, n) => `file-${n}`)
    await task.run('agent', async ({ workspace, wrap }) => {
      const write = async (name: string) => writeFileSync(path.join(workspace, name), name)
      const tools = wrap({ write }, { files: (_, name) => [name as string] })
      await Promise.all(names.map((name) => tools.write(name)))
    })
    const steps = await task.log()
    expect(steps.map((step) => step.n)).toEqual(steps.map((_, n) => n + 1))
    expect(steps.flatMap((step) => step.files.map((file) => file.path)).sort()).toEqual(names)
  })

  test('Process crash recovery verified (P2, L7: what the agent wrote before the crash lands)', async () => {
    const { repo, at, mine } = await session({ 'step.txt': 'step\n' })
    const before = fingerprint(repo)
    const agent = ['exec', 'session', '--', 'sh', '-c', 'echo work > work.txt; sleep 300']
    await killWhen(repo, agent, () => existsSync(at('work.txt')))
    await ok(repo, 'recover')
    expect(fingerprint(repo)).toEqual(before)
    await ok(repo, 'accept', 'session')
    expect([readFileSync(mine('step.txt'), 'utf8'), readFileSync(mine('work.txt'), 'utf8')]).toEqual([
      'step\n',
      'work\n',
    ])
  })
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
    const later = { now: () => new Date(Date.now() + 31 * 60_000) }
    const startOther = async (env: Record<string, string>, id: string) => {
      const ports = { ...compose({ env: { ...repo.env, ...env } }), clock: later }
      await call(ports, 'task.start', { repo: repo.dir, task: id })
      await ports.close()
    }
    await startOther({}, 'other')
    expect(existsSync(task.path)).toBe(true)
    await startOther({ OFFSHOOT_AUTO_REVERT_IDLE: 'always' }, 'another')
    expect([existsSync(task.path), branches(repo)]).toEqual([
      false,
      ['main', 'offshoot/another', 'offshoot/other'],
    ])
    const { notices } = await ok(repo, 'show', 'other')
    await ok(repo, 'undo', notices[0].operation)
    expect(readFileSync(at('ai.txt'), 'utf8')).toBe('ai\n')
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
  test('Enabled (I6)', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_DISABLED: '1' })
    expect((await offshoot(repo, 'start', 'session', '--json')).json.error.code).toBe('WT_017')
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

  test('KeepFailedSessionBranches (R4)', async () => {
    const env = { OFFSHOOT_AUTO_REVERT_FAILURE: 'always', OFFSHOOT_KEEP_FAILED: '1' }
    const repo = withEnv(testRepo(), env)
    await offshoot(repo, 'run', '--task', 'session', '--', 'sh', '-c', 'echo ai > ai.txt; exit 1')
    expect([branches(repo), linkedWorktrees(repo)]).toEqual([['main', 'offshoot/session'], []])
    expect(repo.git('show', 'offshoot/session:ai.txt')).toBe('ai\n')
  })
})
