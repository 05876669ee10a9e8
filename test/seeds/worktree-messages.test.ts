/** The messages of a board that drives agents by worktrees: each name, proven by what it changes in the repository. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { worktreeSchema, type WorktreeView } from '../../src/protocol/second-names.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type TestSocket } from '../support/socket.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { branches, linkedWorktrees } from '../support/workspace.ts'

let repo: TestRepo
let daemon: TestDaemon
let socket: TestSocket
let repository_id: string

beforeAll(async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-'))
  repo = withStandIn(testRepo({ 'a.txt': 'one\n' }, folder))
  repo.env.OFFSHOOT_LIMITS_PER_REPO = '100'
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

/** The payload of the answer; throws the error that came instead. */
async function ask(action: string, payload: object) {
  const answer = await socket.request(action, payload)
  if (answer.type === 'error') throw new Error(`${answer.error.code} ${answer.error.message}`)
  expect(answer).toMatchObject({ type: 'response', action, payload: { ok: true } })
  return answer.payload
}

/** A task with one file and one step. */
async function worked(task: string): Promise<WorktreeView> {
  const { json } = await offshoot(repo, 'start', task, '--json')
  writeFileSync(path.join(json.task.path, `${task}.txt`), `${task}\n`)
  await offshoot(repo, 'checkpoint', task)
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
    await offshoot(repo, 'checkpoint', 'CLASH')
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

describe('D10: orchestrator.start', () => {
  const ended = async (task: string) => {
    for (;;) {
      const { task: shown } = await ask('task.show', { repo: repo.dir, task })
      if (!shown.running) return shown
    }
  }

  test('makes the worktree, answers when the agent is at work, and the agent goes on by itself', async () => {
    const prompt = play({ write: 'agent.txt' })
    const { worktree, unused, pid } = await ask('orchestrator.start', {
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
    expect(unused).toEqual(['priority', 'metadata'])
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
