/** Short names of tasks: `-`, `@` and the beginning of an id, and which verbs take them. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, library } from '../support/workspace.ts'

async function withTasks(...ids: string[]): Promise<{ user: TestRepo; at: Record<string, TestRepo> }> {
  const user = withStandIn(testRepo({ a: 'one\n' }))
  const at: Record<string, TestRepo> = {}
  for (const id of ids) {
    const { json } = await offshoot(user, 'start', id, '--json')
    at[id] = inFolder(user, json.task.path)
  }
  return { user, at }
}

const shown = async (user: TestRepo, name: string) =>
  (await offshoot(user, 'show', name, '--json')).json.task?.id as string | undefined

describe('L18: `-` is the last task', () => {
  test('L18: the one that was last started, run or changed by a command, whatever agents do meanwhile', async () => {
    const { user } = await withTasks('one', 'two', 'three')
    expect(await shown(user, '-')).toBe('three')
    await offshoot(user, 'exec', 'one', '--', 'true')
    expect(await shown(user, '-')).toBe('one')
    const go = path.join(user.home, 'go')
    const waits = `until [ -e '${go}' ]; do sleep 0.05; done; echo late > late.txt`
    await offshoot(user, 'run', '--task', 'two', '--detach', play({ sh: waits }, { write: 'more.txt' }))
    expect(await shown(user, '-')).toBe('two')
    await offshoot(user, 'exec', 'three', '--', 'sh', '-c', 'echo x > x')
    writeFileSync(go, '')
    await offshoot(user, 'attach', 'two')
    expect((await offshoot(user, 'show', 'two', '--json')).json.task.checkpoints).toBe(2)
    expect(await shown(user, '-')).toBe('three')
    await offshoot(user, 'rewind', 'one', '--to', '0')
    expect(await shown(user, '-')).toBe('one')
  })

  test('L18: an answer and a message to an agent count, a question that nobody answered does not', async () => {
    const { user } = await withTasks('one')
    const asks = play({ sh: 'git push' })
    await offshoot(user, 'run', '--task', 'two', '--detach', '--policy', 'moderate', asks)
    while ((await offshoot(user, 'show', 'two', '--json')).json.task.asks === undefined);
    await offshoot(user, 'exec', 'one', '--', 'true')
    expect(await shown(user, '-')).toBe('one')
    await offshoot(user, 'say', 'two', 'Go on.')
    expect(await shown(user, '-')).toBe('two')
    await offshoot(user, 'exec', 'one', '--', 'true')
    await offshoot(user, 'answer', 'two', 'n')
    expect(await shown(user, '-')).toBe('two')
    await offshoot(user, 'stop', 'two')
  })

  test('L18: in a workspace it is another task, as cd - leads to the other folder', async () => {
    const { user, at } = await withTasks('one', 'two')
    expect(await shown(at.two!, '-')).toBe('one')
    expect(await shown(at.one!, '-')).toBe('two')
    expect((await offshoot(at.two!, 'cd', '-')).stdout).toBe(`${at.one!.dir}\n`)
    await offshoot(user, 'reject', '-')
    expect(await shown(user, '-')).toBe('one')
    const none = await offshoot(at.one!, 'show', '-')
    expect(none.code).toBe(3)
    expect(none.stderr).toContain('besides one, the task of this folder, none is open')
  })

  test('L18: without an open task it says so, with a way out', async () => {
    const user = testRepo()
    for (const line of [['show'], ['accept'], ['start']]) {
      const none = await offshoot(user, ...line, '-', '--json')
      expect([line[0], none.code, none.json.error.code]).toEqual([line[0], 3, 'WT_007'])
      expect(none.json.error.hint).toContain('offshoot list --all')
    }
  })

  test('L18: run and start go on with it, and make no task of that name', async () => {
    const { user } = await withTasks('one')
    const ran = await offshoot(user, 'run', '--task', '-', '--json', '--', 'sh', '-c', 'echo x > x')
    expect(ran.json.task.id).toBe('one')
    expect((await offshoot(user, 'start', '-', '--json')).json).toMatchObject({
      reused: true,
      task: { id: 'one' },
    })
    const later = await offshoot(user, 'run', '--task', '-', '--detach', '--json', play({ write: 'b' }))
    expect(later.json.task.id).toBe('one')
    while ((await offshoot(user, 'show', 'one', '--json')).json.task.running);
    expect((await offshoot(user, 'resume', '-', play({ write: 'c' }), '--json')).json.task.id).toBe('one')
    expect((await offshoot(user, 'list', '--json')).json.tasks).toHaveLength(1)
  })
})

describe('L18: `@` is the task of the folder', () => {
  test('L18: in a subfolder too, and for verbs that ask for a name', async () => {
    const { at } = await withTasks('one', 'two')
    mkdirSync(path.join(at.one!.dir, 'deep'))
    const deep = inFolder(at.one!, path.join(at.one!.dir, 'deep'))
    expect(await shown(deep, '@')).toBe('one')
    expect((await offshoot(deep, 'exec', '@', '--json', '--', 'true')).json.task.id).toBe('one')
    expect((await offshoot(deep, 'run', '--task', '@', '--json', '--', 'true')).json.task.id).toBe('one')
    expect((await offshoot(deep, 'compare', '@', '-', '--json')).json.tasks).toMatchObject([
      { task: { id: 'one' } },
      { task: { id: 'two' } },
    ])
    expect((await offshoot(deep, 'delete', '@', '--json')).json.task.id).toBe('one')
  })

  test('L18: elsewhere it is an error that names a way out, and nothing is done', async () => {
    const { user } = await withTasks('one')
    const none = await offshoot(user, 'reject', '@')
    expect(none.code).toBe(3)
    expect(none.stderr).toContain('`@` is the open task of this folder')
    expect(none.stderr).toMatch(/hint: offshoot list .*offshoot cd TASK/)
    expect(await shown(user, 'one')).toBe('one')
  })
})

/** A line for each action that changes a task, and names it by NAME. */
const lines: Partial<Record<ActionName, string[]>> = {
  'task.run': ['exec', 'NAME', '--', 'true'],
  'task.answer': ['answer', 'NAME'],
  'task.say': ['say', 'NAME', 'Hello'],
  'task.stop': ['stop', 'NAME'],
  'task.checkpoint': ['checkpoint', 'NAME'],
  'task.rewind': ['rewind', 'NAME', '--to', '0'],
  'task.accept': ['accept', 'NAME'],
  'task.update': ['update', 'NAME'],
  'task.reject': ['reject', 'NAME'],
  'task.delete': ['delete', 'NAME'],
  'worktree.remove': ['worktree', 'remove', 'NAME'],
  'task.repair': ['repair', 'NAME'],
  'task.install': ['agents', 'install', 'NAME'],
}
const undoable: readonly ActionName[] = [
  'task.rewind',
  'task.accept',
  'task.update',
  'task.reject',
  'task.delete',
]
const entries = Object.entries(lines) as [ActionName, string[]][]

test('L18: every action that changes a task has its line here', () => {
  const changing = Object.entries(actions).filter(([, { writes, options }]) => writes && options.task)
  // The first two make a task of the name where none is there; a token changes no task.
  const others = ['task.start', 'task.detach', 'token.create']
  expect(changing.map(([name]) => name).filter((name) => !others.includes(name))).toEqual(Object.keys(lines))
})

describe('L18: the beginning of an id is enough for what an undo takes back', () => {
  test.each(entries.filter(([name]) => undoable.includes(name)))('L18: %s', async (name, line) => {
    const { user } = await withTasks('fix-login', 'other')
    await offshoot(user, 'exec', 'fix-login', '--', 'sh', '-c', 'echo x > x')
    user.git('commit', '--quiet', '--allow-empty', '--message=Second')
    user.write('c', 'mine\n')
    user.git('add', 'c')
    user.git('commit', '--quiet', '--message=Third')
    const before = await offshoot(user, 'show', 'fix-login', '--json')
    const done = await offshoot(user, ...line.map((word) => (word === 'NAME' ? 'fix' : word)), '--json')
    expect([name, done.code, done.json.task.id]).toEqual([name, 0, 'fix-login'])
    const undone = await offshoot(user, 'undo', '--json')
    expect([undone.code, undone.json.task.id]).toEqual([0, 'fix-login'])
    const after = await offshoot(user, 'show', 'fix-login', '--json')
    expect(after.json.files).toEqual(before.json.files)
  })

  test.each(entries.filter(([name]) => !undoable.includes(name)))('L18: and not for %s', async (_, line) => {
    const { user } = await withTasks('fix-login')
    const refused = await offshoot(user, ...line.map((word) => (word === 'NAME' ? 'fix' : word)))
    expect(refused.code).toBe(3)
  })

  test('L18: nor for a pull request, which nobody takes back, nor for a resume in the background', async () => {
    const { user } = await withTasks('fix-login')
    for (const line of [
      ['accept', 'fix', '--as', 'pr'],
      ['resume', 'fix'],
      ['resume', 'fix', '--detach'],
    ]) {
      const refused = await offshoot(user, ...line, '--json')
      expect([line, refused.code, refused.json.error.code]).toEqual([line, 3, 'WT_007'])
      expect(refused.json.error.hint).toContain('Did you mean fix-login?')
    }
  })

  test('L18: an id wins over the beginning of another, also that of a closed task', async () => {
    const { user } = await withTasks('fix', 'fix-login')
    expect((await offshoot(user, 'reject', 'fix', '--json')).json.task.id).toBe('fix')
    const closed = await offshoot(user, 'accept', 'fix')
    expect([closed.code, closed.stderr]).toEqual([3, expect.stringContaining('The task fix is closed')])
    expect(await shown(user, 'fix-l')).toBe('fix-login')
  })

  test('L18: one that fits several is refused with their names, and nothing is done', async () => {
    const { user } = await withTasks('fix-login', 'fix-logout')
    const refused = await offshoot(user, 'reject', 'fix', '--json')
    expect([refused.code, refused.json.error.code]).toEqual([3, 'WT_007'])
    expect(refused.json.error.message).toContain('fix-logout, fix-login')
    expect((await offshoot(user, 'list', '--json')).json.tasks).toHaveLength(2)
  })

  test('L18: a check of compare runs in the tasks that short names stand for', async () => {
    const { user, at } = await withTasks('fix-login', 'other')
    const { code, json } = await offshoot(user, 'compare', 'fix', '-', '--check', 'touch seen', '--json')
    expect([code, json.tasks.map(({ check }: { check: boolean }) => check)]).toEqual([0, [true, true]])
    for (const one of Object.values(at)) expect(existsSync(path.join(one.dir, 'seen'))).toBe(true)
  })
})

test('L18: the library takes them, too; only find and exists take ids alone', async () => {
  const { user } = await withTasks('fix-login')
  const repo = library(user)
  expect((await repo.show('-')).id).toBe('fix-login')
  expect(await repo.find('fix')).toBeUndefined()
  expect(await repo.exists('fix')).toBe(false)
  expect((await repo.reject({ task: 'fix' })).task.id).toBe('fix-login')
})
