/** The messages of a board that drives agents by worktrees: each name, proven by what it changes in the repository. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { z } from 'zod'
import { worktreeSchema } from '../../src/protocol/second-names.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type TestSocket } from '../support/socket.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { branches, linkedWorktrees } from '../support/workspace.ts'

type WorktreeView = z.infer<typeof worktreeSchema>

let repo: TestRepo
let daemon: TestDaemon
let socket: TestSocket
let repository_id: string

beforeAll(async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-'))
  repo = withStandIn(testRepo({ 'a.txt': 'one\n' }, folder))
  setLimit(100)
  daemon = await startDaemon(repo)
  socket = await openTestSocket(daemon)
  await offshoot(repo, 'start', 'FIRST')
  const { payload } = await socket.request('system.repos')
  repository_id = payload.repos[0].id
})

afterAll(async () => {
  socket.ws.terminate()
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
})

/** How many worktrees a repository may have. */
function setLimit(count: number): void {
  const folder = path.join(repo.env.XDG_CONFIG_HOME ?? path.join(repo.home, '.config'), 'offshoot')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'config.yaml'), `limits:\n  perRepo: ${count}\n`)
}

/** The payload of the answer; throws the error that came instead. */
async function ask(action: string, payload: object) {
  const answer = await socket.request(action, payload)
  if (answer.type === 'error') throw new Error(`${answer.error.code} ${answer.error.message}`)
  expect(answer).toMatchObject({ type: 'response', action, payload: { ok: true } })
  return answer.payload
}

/** A task with one file and one step. */
async function worked(task: string): Promise<WorktreeView> {
  const { task: started } = await ask('task.start', { repo: repo.dir, task })
  writeFileSync(path.join(started.path, `${task}.txt`), `${task}\n`)
  await ask('task.checkpoint', { repo: repo.dir, task })
  return (await ask('worktree.get', { task_id: task })).worktree
}
const inCheckout = (task: string) => existsSync(path.join(repo.dir, `${task}.txt`))
const subject = () => repo.git('log', '-1', '--format=%s', 'main').trim()
const parents = () => repo.git('log', '-1', '--format=%p', 'main').trim().split(' ').length

describe('D10: looking', () => {
  test('worktree.list has every worktree of the repository, with the fields of one', async () => {
    await worked('LIST')
    const { worktrees } = await ask('worktree.list', { repository_id })
    const listed = worktrees.map((one: unknown) => worktreeSchema.strict().parse(one)) as WorktreeView[]
    expect(listed.map(({ task_id }) => task_id).sort()).toEqual(['FIRST', 'LIST'])
    const found = listed.find(({ task_id }) => task_id === 'LIST')
    expect(found).toMatchObject({
      repository_id,
      branch: 'offshoot/LIST',
      base_branch: 'main',
      status: 'active',
      id: expect.stringMatching(/^[0-9a-v]{20}$/),
      created_at: expect.stringMatching(/Z$/),
    })
    expect(linkedWorktrees(repo).map(({ path: folder }) => folder)).toContain(found?.path)
  })

  test('worktree.list with repo is the action of that name', async () => {
    const { worktrees } = await ask('worktree.list', { repo: repo.dir })
    expect(worktrees[0]).toMatchObject({ path: repo.dir, isMain: true })
  })

  test('worktree.get finds it by the id of the task and by its own, with a repository and without', async () => {
    const { id, path: folder } = await worked('GET')
    for (const payload of [
      { task_id: 'GET' },
      { task_id: id },
      { task_id: 'GET', repository_id },
      { task_id: id, repository_id },
      { task_id: 'GET', repository_path: repo.dir },
    ])
      expect((await ask('worktree.get', payload)).worktree).toMatchObject({
        id,
        task_id: 'GET',
        path: folder,
      })
  })

  test('worktree.diff is the difference between worktree and base', async () => {
    await worked('DIFF')
    const { diff, files } = await ask('worktree.diff', { task_id: 'DIFF' })
    expect(diff).toContain('+DIFF')
    expect(files).toMatchObject([{ path: 'DIFF.txt', status: 'added' }])
  })

  test('two repositories have a task of one id: which is meant has to be said', async () => {
    const other = testRepo()
    other.env.OFFSHOOT_HOME = repo.env.OFFSHOOT_HOME ?? ''
    await worked('TWICE')
    await offshoot(other, 'start', 'TWICE')
    onTestFinished(() => void offshoot(other, 'repos', 'forget', '.'))
    expect(await socket.request('worktree.get', { task_id: 'TWICE' })).toMatchObject({
      error: { code: 'WT_019' },
    })
    expect((await ask('worktree.get', { task_id: 'TWICE', repository_id })).worktree).toMatchObject({
      repository_id,
    })
    const there = await ask('worktree.get', { task_id: 'TWICE', repository_path: other.dir })
    expect(there.worktree.repository_id).not.toBe(repository_id)
  })
})

describe('D10: worktree.merge', () => {
  test.each([
    ['merge', 2],
    ['squash', 1],
    ['rebase', 1],
  ])('merge_method %s lands commits on the base branch, and cleans up', async (merge_method, count) => {
    const task = `BY-${merge_method.toUpperCase()}`
    const { path: folder, branch } = await worked(task)
    const before = repo.git('rev-parse', 'main').trim()
    const { worktree } = await ask('worktree.merge', { task_id: task, merge_method, cleanup_after: true })
    expect(worktree).toMatchObject({ status: 'merged', state: 'accepted', merged_at: expect.any(String) })
    expect(repo.git('rev-parse', 'main').trim()).not.toBe(before)
    expect([parents(), inCheckout(task)]).toEqual([count, true])
    expect(existsSync(folder)).toBe(false)
    expect(branches(repo)).not.toContain(branch)
  })

  test('without a method it is a merge', async () => {
    await worked('PLAIN')
    await ask('worktree.merge', { task_id: 'PLAIN' })
    expect([parents(), inCheckout('PLAIN')]).toEqual([2, true])
  })

  test('cleanup_after false keeps worktree and branch, and the task goes on', async () => {
    const { path: folder, branch } = await worked('KEPT')
    const { worktree } = await ask('worktree.merge', {
      task_id: 'KEPT',
      merge_method: 'squash',
      cleanup_after: false,
    })
    expect(worktree).toMatchObject({ status: 'active' })
    expect([inCheckout('KEPT'), existsSync(folder), branches(repo).includes(branch)]).toEqual([
      true,
      true,
      true,
    ])
  })

  test('a conflict is an error that names the files, and nothing is written', async () => {
    const { path: folder } = await worked('CLASH')
    writeFileSync(path.join(folder, 'a.txt'), 'theirs\n')
    await ask('task.checkpoint', { repo: repo.dir, task: 'CLASH' })
    repo.write('a.txt', 'mine\n')
    repo.git('commit', '--quiet', '--all', '--message=Mine')
    const before = repo.git('rev-parse', 'main')
    expect(await socket.request('worktree.merge', { task_id: 'CLASH', merge_method: 'merge' })).toMatchObject(
      {
        type: 'error',
        error: { code: 'WT_011', data: { conflicts: [{ path: 'a.txt' }] } },
      },
    )
    expect(repo.git('rev-parse', 'main')).toBe(before)
  })
})

test('D10: worktree.discard takes worktree and branch away, and an undo brings both back', async () => {
  const { path: folder, branch } = await worked('DISCARD')
  const { worktree, operation } = await ask('worktree.discard', { task_id: 'DISCARD' })
  expect(worktree).toMatchObject({ status: 'deleted', deleted_at: expect.any(String) })
  expect([existsSync(folder), branches(repo).includes(branch), inCheckout('DISCARD')]).toEqual([
    false,
    false,
    false,
  ])
  await ask('system.undo', { repo: repo.dir, operation })
  expect([existsSync(folder), branches(repo).includes(branch)]).toEqual([true, true])
})

describe('D10: task.close', () => {
  test('merge', async () => {
    await worked('CLOSE-MERGE')
    const { worktree } = await ask('task.close', { task_id: 'CLOSE-MERGE', merge_option: 'merge' })
    expect([worktree.status, parents(), inCheckout('CLOSE-MERGE')]).toEqual(['merged', 2, true])
  })

  test('squash', async () => {
    await worked('CLOSE-SQUASH')
    const { worktree } = await ask('task.close', { task_id: 'CLOSE-SQUASH', merge_option: 'squash' })
    expect([worktree.status, parents(), inCheckout('CLOSE-SQUASH')]).toEqual(['merged', 1, true])
  })

  test('discard', async () => {
    const { path: folder, branch } = await worked('CLOSE-DISCARD')
    const before = subject()
    const { worktree } = await ask('task.close', { task_id: 'CLOSE-DISCARD', merge_option: 'discard' })
    expect([worktree.status, subject(), existsSync(folder)]).toEqual(['deleted', before, false])
    expect(branches(repo)).not.toContain(branch)
  })

  test('keep_branch removes the worktree, and the branch has the work', async () => {
    const { path: folder, branch } = await worked('CLOSE-KEEP')
    const { worktree } = await ask('task.close', { task_id: 'CLOSE-KEEP', merge_option: 'keep_branch' })
    expect([worktree.status, worktree.state, existsSync(folder)]).toEqual(['deleted', 'kept', false])
    expect(repo.git('show', `${branch}:CLOSE-KEEP.txt`)).toBe('CLOSE-KEEP\n')
    expect(inCheckout('CLOSE-KEEP')).toBe(false)
  })
})

/** The task when its agent has ended. */
async function ended(task: string) {
  for (;;) {
    const { task: shown } = await ask('task.show', { repo: repo.dir, task })
    if (!shown.running) return shown
  }
}

describe('D10: orchestrator.start', () => {
  test('makes the worktree, answers when the agent is at work, and the agent goes on by itself', async () => {
    const prompt = play({ write: 'agent.txt' })
    const { worktree, pid } = await ask('orchestrator.start', {
      repository_id,
      task_id: 'LAUNCHED',
      prompt,
      agent_type: 'claude',
      base_branch: 'main',
      priority: 3,
      metadata: { board: 'x' },
    })
    expect(worktree).toMatchObject({
      task_id: 'LAUNCHED',
      repository_id,
      status: 'active',
      base_branch: 'main',
    })
    expect(pid).toEqual(expect.any(Number))
    expect(await ended('LAUNCHED')).toMatchObject({ state: 'completed', checkpoints: 1, runs: 1 })
    expect(existsSync(path.join(worktree.path, 'agent.txt'))).toBe(true)
  })

  test('again on the same task: the same worktree, with what is there', async () => {
    const before = (await ask('worktree.get', { task_id: 'LAUNCHED' })).worktree
    const { worktree } = await ask('orchestrator.start', {
      task_id: 'LAUNCHED',
      prompt: play({ write: 'two.txt' }),
    })
    expect(worktree).toMatchObject({ id: before.id, path: before.path })
    expect(await ended('LAUNCHED')).toMatchObject({ runs: 2, checkpoints: 2 })
  })

  test('in a repository that offshoot does not know yet, by its path', async () => {
    const other = testRepo()
    const { worktree } = await ask('orchestrator.start', {
      repository_path: other.dir,
      task_id: 'NEW-REPO',
      prompt: play({ write: 'agent.txt' }),
    })
    expect(worktree.repository_id).not.toBe(repository_id)
    await ask('worktree.discard', { task_id: 'NEW-REPO' }).catch(() => {})
  })
})

/** A worktree stays until its task is closed, whatever becomes of the agent. */
describe('D10: the life of a worktree', () => {
  const launch = (task_id: string, ...acts: Parameters<typeof play>) =>
    ask('orchestrator.start', { repository_id, task_id, prompt: play(...acts) })
  const get = async (task_id: string) => (await ask('worktree.get', { task_id })).worktree as WorktreeView

  test('an agent that fails leaves it, with what it did', async () => {
    await launch('FAILED', { write: 'half.txt' }, { fail: 'gave up' })
    expect(await ended('FAILED')).toMatchObject({ state: 'failed', checkpoints: 1 })
    const { path: folder, status } = await get('FAILED')
    expect([status, existsSync(path.join(folder, 'half.txt'))]).toEqual(['active', true])
  })

  test('a cancelled run leaves it, and a follow-up works in the same folder', async () => {
    await launch('STOPPED', { write: 'one.txt' }, { sh: 'sleep 600' })
    const { path: folder, id } = await get('STOPPED')
    await expect.poll(() => existsSync(path.join(folder, 'one.txt')), { timeout: 20_000 }).toBe(true)
    await ask('task.stop', { repo: repo.dir, task: 'STOPPED' })
    await ended('STOPPED')
    expect(await get('STOPPED')).toMatchObject({ id, status: 'active', path: folder })
    await launch('STOPPED', { sh: 'cat one.txt > two.txt' })
    await ended('STOPPED')
    expect(existsSync(path.join(folder, 'two.txt'))).toBe(true)
  })

  test('a folder that was lost is made again at the next launch, with the steps', async () => {
    const { path: folder, id } = await worked('LOST')
    rmSync(folder, { recursive: true, force: true })
    expect(await get('LOST')).toMatchObject({ status: 'active', state: 'stale' })
    const { worktree } = await launch('LOST', { sh: 'cat LOST.txt > again.txt' })
    expect(worktree).toMatchObject({ id })
    await ended('LOST')
    expect(existsSync(path.join((await get('LOST')).path, 'again.txt'))).toBe(true)
  })

  test('a deleted task takes worktree and branch along', async () => {
    const { path: folder, branch } = await worked('DELETED')
    await ask('task.delete', { repo: repo.dir, task: 'DELETED' })
    expect([existsSync(folder), branches(repo).includes(branch)]).toEqual([false, false])
    const { worktrees } = await ask('worktree.list', { repository_id, all: true })
    expect(worktrees.some(({ task_id }: WorktreeView) => task_id === 'DELETED')).toBe(false)
  })

  test('a restart of the daemon keeps the worktrees of its tasks', async () => {
    const before = await worked('RESTART')
    socket.ws.terminate()
    await daemon.stop('SIGKILL')
    daemon = await startDaemon(repo)
    socket = await openTestSocket(daemon)
    expect(await get('RESTART')).toEqual(before)
  })

  test('each change of it is a notification', async () => {
    const watcher = await openTestSocket(daemon)
    onTestFinished(() => watcher.ws.terminate())
    const { payload } = await watcher.request('subscribe', { repos: [repository_id], tasks: ['NOTIFIED'] })
    await worked('NOTIFIED')
    await ask('worktree.merge', { task_id: 'NOTIFIED', merge_method: 'squash' })
    const isLast = ({ action, payload: told }: { action: string; payload: { event?: { type: string } } }) =>
      action === 'task.event' && told.event?.type === 'operation.done'
    await watcher.heard(isLast)
    const heard = watcher.frames.filter(({ action }) => action === 'task.event')
    expect(heard.map(({ type }) => type)).toEqual(heard.map(() => 'notification'))
    expect(heard.map(({ payload: { event } }) => event.type)).toEqual(
      expect.arrayContaining(['start.begun', 'start.done', 'checkpoint', 'operation.done']),
    )
    for (const { payload: told } of heard)
      expect([told.task, told.repo, told.seq > payload.seq]).toEqual(['NOTIFIED', repository_id, true])
  })
})

describe('D10: what is refused', () => {
  const code = async (action: string, payload: object) =>
    (await socket.request(action, payload)).error?.code as string | undefined

  test('a branch that is there already', async () => {
    repo.git('branch', 'offshoot/TAKEN')
    expect(await code('task.start', { repo: repo.dir, task: 'TAKEN' })).toBe('WT_002')
  })

  test('a base branch that is not there', async () => {
    const launch = { repository_id, task_id: 'BASELESS', prompt: play(), base_branch: 'none' }
    expect(await code('orchestrator.start', launch)).toBe('WT_010')
    expect(await code('worktree.get', { task_id: 'BASELESS' })).toBe('WT_007')
  })

  test('a folder that is no repository', async () => {
    const launch = { repository_path: '/', task_id: 'NOWHERE', prompt: play() }
    expect(await code('orchestrator.start', launch)).toBe('WT_009')
  })

  test('a merge while the agent is at work; another launch waits for it, and a discard ends both', async () => {
    await ask('orchestrator.start', { repository_id, task_id: 'BUSY', prompt: play({ sh: 'sleep 600' }) })
    const again = await ask('orchestrator.start', { task_id: 'BUSY', prompt: play() })
    expect(again.worktree).toMatchObject({ task_id: 'BUSY', status: 'active' })
    expect(await code('worktree.merge', { task_id: 'BUSY' })).toBe('WT_012')
    const { worktree, task } = await ask('worktree.discard', { task_id: 'BUSY' })
    expect([worktree.status, task.reason]).toEqual(['deleted', 'Stopped by the user.'])
  })

  test('a worktree above the limit, until another is closed', async () => {
    setLimit(1)
    onTestFinished(() => setLimit(100))
    const small = testRepo()
    const start = (task: string) => socket.request('task.start', { repo: small.dir, task })
    expect(await start('ONE')).toMatchObject({ type: 'response' })
    expect(await start('TWO')).toMatchObject({ error: { code: 'WT_003', data: { open: 1, limit: 1 } } })
    await ask('worktree.discard', { task_id: 'ONE' })
    expect(await start('TWO')).toMatchObject({ type: 'response' })
  })
})

test.each([
  ['worktree.get', { task_id: 'NONE' }, 'WT_007'],
  ['worktree.get', { task_id: 'NONE', repository_path: '/' }, 'WT_009'],
  ['worktree.list', { repository_id: 'none' }, 'WT_005'],
  ['worktree.list', { repository_path: 'relative' }, 'WT_019'],
  ['worktree.merge', { task_id: 'FIRST', merge_method: 'octopus' }, 'WT_019'],
  ['task.close', { task_id: 'FIRST' }, 'WT_019'],
  ['orchestrator.start', { prompt: 'x' }, 'WT_019'],
  ['orchestrator.start', { task_id: 'NONE', prompt: 'x' }, 'WT_007'],
])('D10: %s with %j is %s, over WebSocket and over HTTP', async (action, payload, code) => {
  expect(await socket.request(action, payload)).toMatchObject({ type: 'error', error: { code } })
  expect((await daemon.call(action, payload)).json).toMatchObject({ ok: false, error: { code } })
})

test('D10: HTTP takes the same names and answers the same', async () => {
  await worked('HTTP')
  const { json, status } = await daemon.call('worktree.get', { task_id: 'HTTP' })
  expect(status).toBe(200)
  expect(json).toEqual(await ask('worktree.get', { task_id: 'HTTP' }))
  const merged = await daemon.call('worktree.merge', { task_id: 'HTTP', merge_method: 'squash' })
  expect(merged.json).toMatchObject({ ok: true, worktree: { status: 'merged' } })
  expect(inCheckout('HTTP')).toBe(true)
})

test('D10: the uid of a closed task does not stand for the task that has its id now', async () => {
  const { id } = await worked('AGAIN')
  await ask('worktree.discard', { task_id: id })
  await worked('AGAIN')
  expect(await socket.request('worktree.discard', { task_id: id })).toMatchObject({
    error: { code: 'WT_007' },
  })
  expect((await ask('worktree.get', { task_id: 'AGAIN' })).worktree.status).toBe('active')
})
