import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { addFiles, loseRecords } from '../support/damage.ts'
import { offshoot, quickFolder, testRepo, type TestRepo } from '../support/repo.ts'
import { inFolder, library, once } from '../support/workspace.ts'

/** One task of each kind, as they come in a life. */
async function lived(): Promise<TestRepo> {
  const user = testRepo({ 'a.txt': 'one\n', 'b.txt': 'two\n' }, quickFolder())
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  user.git('branch', 'feature')
  const repo = library(user)
  const begin = async (id: string, more: object = {}, steps = 1) => {
    const { task } = await repo.start({ task: id, title: `About ${id}`, ...more })
    for (let n = 1; n <= steps; n++) {
      writeFileSync(path.join(task.path, `${id}.txt`), `${n}\n`)
      await repo.checkpoint({ task: id, tool: 'Edit', summary: `Change ${n}` })
    }
  }
  await begin('open', {}, 2)
  await begin('cloned', { isolation: 'clone' })
  await begin('adopting', { existingBranch: 'feature' })
  await repo.start({ task: 'untouched' })
  await begin('landed')
  await repo.accept({ task: 'landed', as: 'squash', message: 'Land it' })
  await begin('given-up')
  await repo.reject({ task: 'given-up' })
  await begin('deleted')
  await repo.delete('deleted')
  await begin('back-again')
  await repo.reject({ task: 'back-again' })
  await repo.undo()
  await begin('rewound', {}, 2)
  await repo.rewind({ task: 'rewound', to: 1 })
  await begin('recurring')
  await repo.reject({ task: 'recurring' })
  await begin('recurring')
  await begin('in-part')
  await repo.accept({ task: 'in-part', only: ['in-part.txt'] })
  await repo.close()
  return user
}

const rebuild = (user: TestRepo) => once(user, (repo) => repo.rebuild())

/** All that is told of the repository, but for what only the records knew. */
async function told(user: TestRepo) {
  const repo = openRepo(user.dir, { env: user.env })
  const tasks = await repo.list({ all: true })
  const logs: Record<string, unknown> = {}
  for (const { id } of tasks) logs[id] = await repo.log(id)
  const operations = await repo.ops()
  await repo.close()
  return { tasks: tasks.map((task) => ({ ...task, lastActiveAt: '' })), logs, operations }
}

function folders(user: TestRepo): Record<string, string> {
  const found: Record<string, string> = {}
  const home = user.env.OFFSHOOT_HOME ?? ''
  for (const name of ['workspaces', 'vaults']) addFiles(found, name, path.join(home, name))
  addFiles(found, 'registrations', path.join(user.dir, '.git', 'worktrees'))
  // What only saves work is written whenever somebody looks.
  return Object.fromEntries(Object.entries(found).filter(([name]) => !/\/(overlay|index[^/]*)$/.test(name)))
}

test('R7: without a database, repair --rebuild brings back every task, step and operation, and undo works', async () => {
  const user = await lived()
  const before = await told(user)
  expect(before.operations).toHaveLength(8)
  const [untouched, files] = [checkoutState(user), folders(user)]
  loseRecords(user)
  expect((await offshoot(user, 'list', '--all', '--json')).json.tasks).toEqual([])
  const checks = await once(user, (repo) => repo.doctor())
  expect(checks.filter(({ status }) => status !== 'ok')).toMatchObject([
    { message: expect.stringContaining('the steps of 12 tasks'), hint: 'offshoot repair --rebuild' },
  ])

  const { left, rebuilt } = await rebuild(user)
  expect({ left, notTaken: rebuilt?.left }).toEqual({ left: [], notTaken: [] })
  expect(rebuilt?.tasks).toHaveLength(12)
  expect(await told(user)).toEqual(before)
  expect([checkoutState(user), folders(user)]).toEqual([untouched, files])
  expect((await offshoot(user, 'audit', '--verify')).code).toBe(0)

  // A second time there is nothing to do.
  expect((await rebuild(user)).rebuilt).toMatchObject({ tasks: [], steps: 0, operations: 0 })

  const repo = library(user)
  const landing = before.operations.find(({ verb, task }) => verb === 'accept' && task === 'landed')
  await repo.undo(landing?.id)
  expect(existsSync(path.join(user.dir, 'landed.txt'))).toBe(false)
  expect((await repo.show('landed')).state).not.toBe('accepted')
  const { task } = await repo.start({ task: 'open' })
  writeFileSync(path.join(task.path, 'more.txt'), 'more\n')
  expect((await repo.checkpoint({ task: 'open' })).checkpoint.n).toBe(3)
  await repo.accept({ task: 'open' })
  expect(readFileSync(path.join(user.dir, 'open.txt'), 'utf8')).toBe('2\n')
})

test('R7: a shadow branch comes back with what was put away for it', async () => {
  const user = testRepo()
  user.write('a.txt', 'uncommitted\n')
  user.write('new.txt', 'untracked\n')
  const before = checkoutState(user)
  await offshoot(user, 'start', 'S1', '--isolation', 'branch')
  writeFileSync(path.join(user.dir, 'work.txt'), 'work\n')
  await offshoot(user, 'checkpoint', 'S1')
  loseRecords(user)
  expect((await rebuild(user)).rebuilt?.tasks).toEqual(['S1'])
  expect((await offshoot(user, 'show', 'S1', '--json')).json.task).toMatchObject({
    state: 'active',
    checkpoints: 1,
  })
  expect((await offshoot(user, 'reject', 'S1')).code).toBe(0)
  expect(checkoutState(user)).toEqual(before)
})

test('R7: a damaged database is set aside whole; what cannot be a database of ours is not', async () => {
  const user = testRepo()
  await offshoot(user, 'start', 'T1')
  const home = user.env.OFFSHOOT_HOME ?? ''
  const garbage = 'garbage '.repeat(5_000)
  writeFileSync(path.join(home, 'state.db'), garbage)
  const refused = await offshoot(user, 'list', '--json')
  expect(refused.json.error).toMatchObject({
    code: 'WT_022',
    hint: expect.stringContaining('repair --rebuild'),
  })
  const { rebuilt } = await rebuild(user)
  expect(rebuilt?.tasks).toEqual(['T1'])
  expect(readFileSync(path.join(rebuilt?.aside ?? '', 'state.db'), 'utf8')).toBe(garbage)
  expect(readdirSync(home)).toContain('state.db')
})

test('R7: a task that was started since under the same id stays; the older one is told', async () => {
  const user = testRepo()
  await offshoot(user, 'start', 'T1')
  loseRecords(user)
  const { json: anew } = await offshoot(user, 'start', 'T1', '--branch', 'other', '--json')
  const { json, code } = await offshoot(user, 'repair', '--rebuild', '--json')
  expect(code).toBe(1)
  expect(json.rebuilt).toMatchObject({ tasks: [], left: [{ what: 'task T1' }] })
  expect((await offshoot(user, 'show', 'T1', '--json')).json.task.path).toBe(anew.task.path)
})

test('R7: a start that was taken back does not come back', async () => {
  const user = testRepo({ 'a.txt': 'one\n', '.gitattributes': '*.txt text eol=crlf\n' })
  const repo = library(user, {
    around: {
      store: (store) => ({
        ...store,
        async append(change) {
          if (change.entries.some(({ type }) => type === 'start.done')) throw new Error('no')
          return store.append(change)
        },
      }),
    },
  })
  await expect(repo.start({ task: 'T1' })).rejects.toThrow('no')
  await repo.close()
  loseRecords(user)
  await rebuild(user)
  expect((await offshoot(user, 'list', '--all', '--json')).json.tasks).toEqual([])
  expect((await offshoot(inFolder(user, user.dir), 'start', 'T1')).code).toBe(0)
})

test('R7: an accept that stopped half-way, and then the records were lost, is finished', async () => {
  const user = testRepo()
  let placed = 0
  const repo = library(user, {
    around: {
      checkouts: (checkouts) => ({
        ...checkouts,
        async place(...args) {
          if (++placed > 1) throw new Error('no more')
          return checkouts.place(...args)
        },
        // Nor can what has landed be taken back.
        async removeFile(...args) {
          if (placed > 1) throw new Error('no more')
          return checkouts.removeFile(...args)
        },
      }),
    },
  })
  const { task } = await repo.start({ task: 'T1' })
  const names = ['x.txt', 'y.txt']
  for (const name of names) writeFileSync(path.join(task.path, name), name)
  const before = checkoutState(user)
  await expect(repo.accept({ task: 'T1' })).rejects.toThrow('no more')
  await repo.close()
  expect(names.filter((name) => existsSync(path.join(user.dir, name)))).toHaveLength(1)
  loseRecords(user)
  expect((await offshoot(user, 'repair', '--rebuild')).code).toBe(0)
  for (const name of names) expect(readFileSync(path.join(user.dir, name), 'utf8')).toBe(name)
  expect((await offshoot(user, 'ops', '--json')).json.operations).toMatchObject([
    { verb: 'accept', task: 'T1' },
  ])
  expect((await offshoot(user, 'undo')).code).toBe(0)
  expect(checkoutState(user)).toEqual(before)
})

const change = (user: TestRepo, sql: string) => {
  const db = new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'), {
    enableForeignKeyConstraints: false,
  })
  db.exec(sql)
  db.close()
}

test('R7: tasks whose rows are lost come back from their events, and the log stays sealed', async () => {
  const user = await lived()
  const before = await told(user)
  change(user, 'DELETE FROM tasks')
  const { code, json } = await offshoot(user, 'repair', '--rebuild', '--json')
  expect([code, json.rebuilt.left, json.left]).toEqual([0, [], []])
  expect(await told(user)).toEqual(before)
  expect((await offshoot(user, 'audit', '--verify', '--json')).json.verified.flaws).toEqual([])
})

test('R7: an entry of the log that is garbage is told as damage, and the records are rebuilt', async () => {
  const user = testRepo()
  await offshoot(user, 'run', '--task', 'T1', '--', 'touch', 'x.txt')
  change(user, "UPDATE events SET event = 'garbage' WHERE seq = 2")
  expect((await offshoot(user, 'audit', '--json')).json.error).toMatchObject({
    code: 'WT_022',
    hint: expect.stringContaining('offshoot repair --rebuild'),
  })
  expect((await offshoot(user, 'doctor', '--json')).json.checks).toContainEqual(
    expect.objectContaining({ status: 'fail', hint: expect.stringContaining('offshoot repair --rebuild') }),
  )
  expect((await offshoot(user, 'repair', '--rebuild')).code).toBe(0)
  expect((await offshoot(user, 'audit')).code).toBe(0)
  expect((await offshoot(user, 'log', 'T1', '--json')).json.checkpoints).toHaveLength(1)
})

test.each([0, 1])(
  'R7: a record that cannot be read (open: %i) is told, and made again from its events',
  async (open) => {
    const user = testRepo()
    const repo = library(user)
    for (const id of ['T1', 'T2']) await repo.start({ task: id })
    await repo.reject({ task: 'T1' })
    const before = await repo.list({ all: true })
    await repo.close()
    const db = new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'))
    // One of an open task would be refused by the indexes, as only a damaged file does not.
    if (open) db.exec(`UPDATE tasks SET summary = '{}' WHERE open = 1`)
    else db.exec('UPDATE tasks SET summary = substr(summary, 1, 40) WHERE open = 0')
    db.close()
    const id = open ? 'T2' : 'T1'
    const { json } = await offshoot(user, 'doctor', '--json')
    const told = expect.objectContaining({ name: 'records', message: expect.stringContaining(`of ${id} `) })
    expect(json.checks).toContainEqual(told)
    const rebuilt = (await offshoot(user, 'repair', '--rebuild', '--json')).json
    expect(rebuilt.rebuilt).toMatchObject({ tasks: [id], left: [] })
    expect(rebuilt.rebuilt.aside).toBeUndefined()
    expect(await once(user, (one) => one.list({ all: true }))).toEqual(before)
    expect((await offshoot(user, 'undo', '--json')).json.ok).toBe(true)
  },
)
