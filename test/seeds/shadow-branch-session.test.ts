/**
 * What a tool that works on a shadow branch must do for its user, from the first start to the last failure. What it must do
 * with git is shown elsewhere. GitCommandExecutor 1 and 2: `src/git/exec.test.ts`; 3: 3 below, where what is staged, changed
 * and untracked comes back as such; 4: `src/git/refs.test.ts`. Integration 1: `test/journeys/verbs-through-git.test.ts`;
 * 2: `src/core/model/events.test.ts`; 3: `test/faults/faults.test.ts`.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call } from '../support/call.ts'
import { compose } from '../../src/compose/full.ts'
import { openRepo } from '../../src/index.ts'
import { testClock } from '../support/clock.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { isRunning, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, nowhere, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

const lines = (...changes: [number, string][]) => {
  const all = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`)
  for (const [n, text] of changes) all[n - 1] = text
  return `${all.join('\n')}\n`
}

async function session(
  files: Record<string, string> = { a: lines(), b: 'b\n' },
  prepare: (user: TestRepo) => void = () => {},
) {
  const user = testRepo(files)
  user.git('config', 'user.name', 'Ursula')
  user.git('config', 'user.email', 'ursula@example.com')
  prepare(user)
  const before = fingerprint(user)
  const repo = openRepo(user.dir, { env: user.env })
  onTestFinished(() => repo.close())
  await repo.start({ task: 'S', isolation: 'branch', title: 'A session' })
  return { user, repo, task: repo.task('S'), before }
}

/** Tools as an agent has them; the last one throws after it has written something. */
const toolsIn = (folder: string) => ({
  write_file: ({ path: name, text }: { path: string; text: string }) =>
    writeFileSync(path.join(folder, name), text),
  replace_in_file: ({ path: name, from, to }: { path: string; from: string; to: string }) => {
    const file = path.join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  },
  shell: ({ path: name }: { path: string }) => appendFileSync(path.join(folder, name), 'from the shell\n'),
  broken: ({ path: name }: { path: string }) => {
    writeFileSync(path.join(folder, name), 'half\n')
    throw new Error('the tool broke')
  },
})

describe('A2, R1, L12', () => {
  test('1. Session creation and accept', async () => {
    const { user, repo, task } = await session()
    await task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      for (const name of ['a', 'b', 'c']) await tools.write_file({ path: name, text: `new ${name}\n` })
    })
    await repo.accept({ task: 'S' })
    expect(user.git('log', '--format=%D|%s')).toBe('HEAD -> main|A session\n|First commit\n')
    expect(user.git('diff', '--name-only', 'HEAD~1', 'HEAD')).toBe('a\nb\nc\n')
    expect(user.git('status', '--porcelain')).toBe('')
    expect(user.git('branch', '--format=%(refname:short)')).toBe('main\n')
  })

  test('2. Session rejection', async () => {
    const { user, repo, task, before } = await session()
    await task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      for (let n = 1; n <= 5; n++) await tools.write_file({ path: `f${n}`, text: 'x\n' })
    })
    expect(user.git('rev-list', '--count', 'main..HEAD')).toBe('5\n')
    await repo.reject({ task: 'S' })
    expect(fingerprint(user)).toEqual(before)
    expect(user.git('branch', '--format=%(refname:short)')).toBe('main\n')
  })

  test.each(['accept', 'reject'] as const)('3. Uncommitted changes preservation, after %s', async (verb) => {
    const { user, repo, task } = await session(undefined, (dirty) => {
      dirty.write('a', lines([2, 'staged']))
      dirty.git('add', 'a')
      dirty.write('a', lines([2, 'staged'], [5, 'not staged']))
      dirty.write('untracked', 'mine\n')
    })
    await task.run('agent', async ({ workspace, wrap }) => {
      await wrap(toolsIn(workspace)).write_file({ path: 'c', text: 'c\n' })
    })
    await repo[verb]({ task: 'S' })
    expect(user.git('ls-tree', '--name-only', 'main')).toBe(verb === 'accept' ? 'a\nb\nc\n' : 'a\nb\n')
    if (verb === 'accept') expect(user.git('show', 'main:c')).toBe('c\n')
    expect(user.git('show', 'main:a')).toBe(lines())
    expect(user.git('show', ':a')).toBe(lines([2, 'staged']))
    expect(readFileSync(path.join(user.dir, 'a'), 'utf8')).toBe(lines([2, 'staged'], [5, 'not staged']))
    expect(user.git('status', '--porcelain')).toBe('MM a\n?? untracked\n')
  })
})

/** The vault takes nothing and gives nothing, as on a disk that broke; answers what puts it right. */
function breakVault(user: TestRepo): () => void {
  const [objects = ''] = globSync(path.join(user.home, 'state/vaults/*/objects'))
  renameSync(objects, `${objects}.away`)
  writeFileSync(objects, 'no folder')
  return () => {
    rmSync(objects)
    renameSync(`${objects}.away`, objects)
  }
}

describe('K1, K2, K4', () => {
  test('4. Multiple tool calls', async () => {
    const { user, repo, task } = await session()
    await task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      await tools.write_file({ path: 'c', text: 'c\n' })
      await tools.replace_in_file({ path: 'b', from: 'b', to: 'B' })
      await tools.shell({ path: 'log.txt' })
    })
    expect(user.git('log', '--format=%s', '--reverse', 'main..offshoot/S')).toBe(
      'AI Tool: write_file - c\nAI Tool: replace_in_file - b\nAI Tool: shell - log.txt\n',
    )
    await repo.accept({ task: 'S' })
    expect(user.git('rev-list', '--count', 'main')).toBe('2\n')
  })

  /** A session in which a tool failed in the middle; it has left a file. */
  async function withFailure() {
    const made = await session()
    await made.task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      await tools.write_file({ path: 'c', text: 'c\n' })
      await expect(tools.broken({ path: 'leftover' })).rejects.toThrow('the tool broke')
      await tools.write_file({ path: 'd', text: 'd\n' })
    })
    return made
  }

  test('5. Tool failure mid-session (K2: what it left is a step that says so, and an accept names it before and after)', async () => {
    const { user, repo, task } = await withFailure()
    const steps = await task.log()
    expect(steps.map(({ tool, failed, files }) => [tool, failed, files.map((file) => file.path)])).toEqual([
      ['write_file', undefined, ['c']],
      ['sweep', 'broken', ['leftover']],
      ['write_file', undefined, ['d']],
    ])
    expect(steps[1]?.summary).toBe('left by broken, which failed')
    const leftovers = [{ n: 2, tool: 'broken', files: ['leftover'], landed: true }]
    const { preview } = await repo.accept({ task: 'S', dryRun: true })
    expect(preview).toMatchObject({ clean: true, leftovers })
    const told = await offshoot(user, 'accept', 'S', '--dry-run')
    expect(told.stdout).toContain('look at leftover: left by broken, which failed (step 2)')
    const { accepted } = await repo.accept({ task: 'S' })
    expect(accepted).toMatchObject({ leftovers, risks: [{ path: 'leftover' }] })
    expect(user.git('diff', '--name-only', 'main~1', 'main')).toBe('c\nd\nleftover\n')
  })

  test.each([
    ['--without-failed', ['--without-failed'], {}],
    ['accept.leftovers: leave', [], { OFFSHOOT_ACCEPT_LEFTOVERS: 'leave' }],
  ])(
    '5. Tool failure mid-session (K2: with %s only what tools did successfully lands)',
    async (_, flags, env) => {
      const { user, task } = await withFailure()
      const at = withEnv(user, env)
      const told = await offshoot(at, 'accept', 'S', '--as', 'squash', '--dry-run', ...flags)
      expect(told.stdout).toContain('left out: step 2, left by broken, which failed (leftover)')
      const { code, json } = await offshoot(at, 'accept', 'S', '--as', 'squash', '--json', ...flags)
      expect([code, json.accepted.leftovers]).toEqual([
        0,
        [{ n: 2, tool: 'broken', files: ['leftover'], landed: false }],
      ])
      expect(user.git('diff', '--name-only', 'main~1', 'main')).toBe('c\nd\n')
      expect((await task.show()).state).toBe('completed')
      await offshoot(at, 'reject', 'S')
      expect(user.git('status', '--porcelain')).toBe('')
      expect(user.git('ls-files')).toBe('a\nb\nc\nd\n')
    },
  )

  test('5. Tool failure mid-session (K2: what others built on cannot be left out, and nothing lands)', async () => {
    const { user, repo, task } = await session()
    await task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      await expect(tools.broken({ path: 'leftover' })).rejects.toThrow('the tool broke')
      await tools.shell({ path: 'leftover' })
    })
    await expect(repo.accept({ task: 'S', withoutFailed: true })).rejects.toMatchObject({ code: 'WT_011' })
    expect(user.git('rev-list', '--count', 'main')).toBe('1\n')
  })

  test('11. Tool throws exception', async () => {
    const { user, task } = await session()
    await task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap({ ...toolsIn(workspace), throws: () => Promise.reject(new Error('not caught')) })
      await expect(tools.throws()).rejects.toThrow('not caught')
      expect((await task.show()).state).toBe('active')
      expect(await task.log()).toEqual([])
      await expect(tools.broken({ path: 'leftover' })).rejects.toThrow('the tool broke')
      expect((await task.show()).state).toBe('active')
      await tools.write_file({ path: 'c', text: 'c\n' })
    })
    expect((await task.log()).map(({ tool, summary }) => `${tool}: ${summary}`)).toEqual([
      'sweep: left by broken, which failed',
      'write_file: c',
    ])
    expect(user.git('log', '--format=%s', 'main..offshoot/S')).toBe(
      'AI Tool: write_file - c\nAI Tool: sweep - left by broken, which failed\n',
    )
  })

  test('12. Git command fails during commit, and the session ends (K4: it has failed, loudly; R3: it is given up, and nothing is lost)', async () => {
    const { user, repo, task, before } = await session(undefined, (dirty) => dirty.write('b', 'mine\n'))
    let mend = () => {}
    const running = task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      await tools.write_file({ path: 'c', text: 'c\n' })
      mend = breakVault(user)
      await expect(tools.write_file({ path: 'd', text: 'd\n' })).rejects.toMatchObject({ code: 'WT_020' })
    })
    await expect(running).rejects.toMatchObject({ code: 'WT_020' })
    mend()
    expect(await repo.find('S')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('a checkpoint could not be written'),
    })
    expect(readFileSync(path.join(user.dir, 'd'), 'utf8')).toBe('d\n')
    const failures = await repo.audit({ task: 'S', failures: true })
    expect(failures.map(({ what }) => what)).toContain('checkpoint.failed')
    const { json } = await offshoot(user, 'start', 'other', '--json')
    const why = 'a checkpoint could not be written'
    expect(json.notices).toMatchObject([
      { task: 'S', message: expect.stringContaining(`S was rejected automatically (failure): ${why}`) },
    ])
    expect(await repo.find('S')).toMatchObject({ state: 'rejected', reason: expect.stringContaining(why) })
    expect(fingerprint(user)).toEqual(before)
    expect(user.git('branch', '--list', 'offshoot/S')).toBe('')
    await repo.undo(json.notices[0].operation)
    for (const name of ['c', 'd']) expect(readFileSync(path.join(user.dir, name), 'utf8')).toBe(`${name}\n`)
    expect((await task.log()).map(({ files }) => files.map((file) => file.path))).toEqual([['c'], ['d']])
  })

  test('12. Git command fails during commit (K4: until a checkpoint can be written again)', async () => {
    const { user, repo, task, before } = await session(undefined, (dirty) => dirty.write('b', 'mine\n'))
    user.write('c', 'c\n')
    const mend = breakVault(user)
    const { code, json } = await offshoot(user, 'checkpoint', 'S', '--json')
    expect({ code, ok: json.ok }).toEqual({ code: 1, ok: false })
    mend()
    expect(await task.show()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('a checkpoint could not be written'),
    })
    // Whatever was to be kept has gone: nothing is missing any more.
    rmSync(path.join(user.dir, 'c'))
    expect((await offshoot(user, 'checkpoint', 'S', '--json')).json.created).toBe(false)
    expect(await task.show()).toMatchObject({ state: 'active' })
    user.write('c', 'c\n')
    expect(readFileSync(path.join(user.dir, 'c'), 'utf8')).toBe('c\n')
    await repo.reject({ task: 'S' })
    expect(fingerprint(user)).toEqual(before)
  })
})

describe('R3, L12', () => {
  test('8. Unhandled exception during session', async () => {
    const { user, repo, task, before } = await session(undefined, (dirty) => dirty.write('b', 'mine\n'))
    const crashing = task.run('agent', async ({ workspace, wrap }) => {
      const tools = wrap(toolsIn(workspace))
      for (const name of ['c', 'd']) await tools.write_file({ path: name, text: `${name}\n` })
      throw new Error('nobody caught this')
    })
    await expect(crashing).rejects.toThrow('nobody caught this')
    expect(fingerprint(user)).toEqual(before)
    expect(user.git('branch', '--format=%(refname:short)')).toBe('main\n')
    expect(await repo.notices()).toMatchObject([
      { message: 'S was rejected automatically (failure): nobody caught this' },
    ])
    await repo.undo()
    expect((await task.log()).map(({ tool }) => tool)).toEqual(['write_file', 'write_file'])
  })

  test('9. Application shutdown without accept', async () => {
    const { user, before } = await session(undefined, (dirty) => dirty.write('untracked', 'mine\n'))
    const pid = path.join(user.home, 'pid')
    const script = `echo $$ > '${pid}'; echo work > work; exec sleep 300`
    const args = [bin, 'run', '--task', 'S', '--', 'sh', '-c', script]
    const app = spawn(process.execPath, args, { cwd: user.dir, env: user.env, stdio: 'ignore' })
    onTestFinished(() => void app.kill('SIGKILL'))
    const gone = new Promise((resolve) => app.once('close', resolve))
    await until(() => existsSync(path.join(user.dir, 'work')), 'the session has changes')
    app.kill('SIGKILL')
    await gone
    // The next start of the application.
    const { json } = await offshoot(user, 'start', 'next', '--json')
    expect(json.notices).toMatchObject([{ task: 'S', message: expect.stringContaining('(shutdown)') }])
    expect(fingerprint(user)).toEqual(before)
    expect(isRunning(Number(readFileSync(pid, 'utf8')))).toBe(false)
    expect(user.git('branch', '--format=%(refname:short)')).toBe('main\noffshoot/next\n')
    await offshoot(user, 'undo', json.notices[0].operation)
    expect(readFileSync(path.join(user.dir, 'work'), 'utf8')).toBe('work\n')
  })

  /** Starts another task, as of so many minutes from now. */
  async function startLater(user: TestRepo, minutes: number, task: string): Promise<void> {
    const ports = compose({ env: user.env, clock: testClock(minutes / 1440) })
    await call(ports, 'task.start', { repo: user.dir, task })
    await ports.close()
  }

  test.each(['timeout', 'new session'])('10. Session ends without user decision: %s', async (how) => {
    const { user, repo, task, before } = await session(undefined, (dirty) => {
      dirty.write('a', lines([2, 'staged']))
      dirty.git('add', 'a')
      dirty.write('b', 'mine\n')
      dirty.write('untracked', 'mine\n')
    })
    await task.run('agent', async ({ workspace, wrap }) => {
      await wrap(toolsIn(workspace)).write_file({ path: 'c', text: 'c\n' })
    })
    expect((await task.show()).state).toBe('completed')
    if (how === 'timeout') {
      await startLater(user, 29, 'early')
      expect([(await task.show()).state, await repo.notices()]).toEqual(['completed', []])
      expect(user.git('symbolic-ref', '--short', 'HEAD')).toBe('offshoot/S\n')
      await startLater(user, 31, 'late')
    } else await repo.start({ task: 'S2', isolation: 'branch' })
    expect(await repo.find('S')).toMatchObject({ state: 'rejected' })
    const [notice, ...more] = await repo.notices()
    expect([notice?.message, more]).toEqual([
      how === 'timeout'
        ? 'S was rejected automatically (idle): nobody used it for 31 minutes'
        : 'S was rejected automatically (new task): S2 was started in its checkout, and has to be closed before S can come back',
      [],
    ])
    if (how === 'new session') await repo.reject({ task: 'S2' })
    expect(fingerprint(user)).toEqual(before)
    expect(user.git('branch', '--list', 'offshoot/S')).toBe('')
    await repo.undo(notice?.operation)
    expect(user.git('symbolic-ref', '--short', 'HEAD')).toBe('offshoot/S\n')
    expect(user.git('log', '--format=%s', 'main..HEAD')).toBe('AI Tool: write_file - c\n')
    expect(readFileSync(path.join(user.dir, 'c'), 'utf8')).toBe('c\n')
    await repo.reject({ task: 'S' })
    expect(fingerprint(user)).toEqual(before)
  })
})

describe('A3', () => {
  test('7. Conflict handling', async () => {
    const { user, repo, task } = await session()
    const main = user.git('rev-parse', 'main').trim()
    const blob = path.join(user.home, 'theirs')
    writeFileSync(blob, lines([3, 'theirs']))
    const oid = user.git('hash-object', '-w', blob).trim()
    const tree = `100644 blob ${oid}\ta\n100644 blob ${user.git('rev-parse', 'main:b').trim()}\tb\n`
    const moved = user.git('commit-tree', '-p', main, '-m', 'moved on', makeTree(user, tree)).trim()
    user.git('update-ref', 'refs/heads/main', moved)
    user.write('a', lines([3, 'agent']))
    await task.checkpoint({ tool: 'Edit' })
    const { code, json } = await offshoot(user, 'accept', 'S', '--json')
    expect(code).toBe(4)
    expect(json.error).toMatchObject({
      code: 'WT_011',
      data: { conflicts: [{ path: 'a', kind: 'content' }] },
    })
    expect(user.git('rev-parse', 'main').trim()).toBe(moved)
    await repo.update({ task: 'S', conflicts: 'markers' })
    expect(readFileSync(path.join(user.dir, 'a'), 'utf8')).toContain('<<<<<<<')
    user.write('a', lines([3, 'solved']))
    await repo.accept({ task: 'S' })
    expect(user.git('show', 'main:a')).toBe(lines([3, 'solved']))
    expect(user.git('status', '--porcelain', '--branch')).toBe('## main\n')
  })
})

describe('L9, G6', () => {
  test('6. Session without git repository', async () => {
    const at = withEnv(nowhere(), { OFFSHOOT_ISOLATION_FALLBACK: 'direct' })
    expect(await offshoot(at, 'run', '--json', '--', 'sh', '-c', 'echo x > x.txt')).toMatchObject({
      code: 0,
      json: { direct: true },
    })
    expect(readFileSync(path.join(at.dir, 'x.txt'), 'utf8')).toBe('x\n')
    expect(existsSync(path.join(at.dir, '.git'))).toBe(false)
    expect((await offshoot(at, 'start', 'S', '--json')).json.error.code).toBe('WT_009')
  })

  test('/session-status, /accept-session and /reject-session: what each says to run does what it is called', async () => {
    const user = testRepo()
    const repo = openRepo(user.dir, { env: user.env })
    onTestFinished(() => repo.close())
    for (const id of ['S', 'T']) {
      const { task } = await repo.start({ task: id })
      await repo.install({ task: id, agent: 'claude' })
      expect(await repo.checkpoint({ task: id })).toMatchObject({ created: false })
      writeFileSync(path.join(task.path, `${id}.txt`), 'work\n')
    }
    /** Runs the command that the page names, as its reader would: in the workspace. */
    const follow = async (id: string, name: string) => {
      const at = inFolder(user, (await repo.show(id)).path)
      const page = readFileSync(path.join(at.dir, `.claude/skills/${name}/SKILL.md`), 'utf8')
      const [, words = ''] = /`offshoot (\w+)`/.exec(page) ?? []
      return offshoot(at, words, '--json')
    }
    expect((await follow('S', 'session-status')).json).toMatchObject({
      ok: true,
      task: { id: 'S', dirty: true },
    })
    expect((await follow('S', 'accept-session')).json).toMatchObject({
      ok: true,
      task: { state: 'accepted' },
    })
    expect((await follow('T', 'reject-session')).json).toMatchObject({
      ok: true,
      task: { state: 'rejected' },
    })
    expect(user.git('status', '--porcelain')).toBe('?? S.txt\n')
  })

  test('State: when a session was accepted or rejected, and by what', async () => {
    const { repo } = await session()
    const open = await repo.find('S')
    expect([open?.closedAt, open?.closedBy]).toEqual([undefined, undefined])
    await repo.reject({ task: 'S' })
    const rejected = await repo.find('S')
    expect(rejected).toMatchObject({ state: 'rejected', closedBy: 'reject' })
    expect(Date.parse(rejected!.closedAt!)).toBeGreaterThanOrEqual(Date.parse(rejected!.createdAt))
    await repo.undo()
    expect((await repo.find('S'))?.closedAt).toBeUndefined()
    await repo.accept({ task: 'S' })
    expect(await repo.find('S')).toMatchObject({ state: 'accepted', closedBy: 'accept' })
    await repo.start({ task: 'one', isolation: 'branch' })
    await repo.start({ task: 'two', isolation: 'branch' })
    expect(await repo.find('one')).toMatchObject({ state: 'rejected', closedBy: 'auto-revert' })
  })
})

function makeTree(user: TestRepo, entries: string): string {
  const index = path.join(user.home, 'index')
  const env = { ...user.env, GIT_INDEX_FILE: index }
  execFileSync('git', ['update-index', '--add', '--index-info'], { cwd: user.dir, env, input: entries })
  return execFileSync('git', ['write-tree'], { cwd: user.dir, env, encoding: 'utf8' }).trim()
}
