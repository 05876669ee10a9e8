import { execFileSync } from 'node:child_process'
import { globSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import path from 'node:path'
import { expect, test } from 'vitest'
import { hook } from '../support/claude-hook.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { withEnv } from '../support/workspace.ts'

const openDatabase = (user: TestRepo) => new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'))

async function busyUser(): Promise<TestRepo> {
  const user = testRepo()
  await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo work > work.txt')
  await offshoot(user, 'accept', 'T1')
  await offshoot(user, 'run', '--task', 'T2', '--', 'false')
  return user
}

test('R9: every act is in the log: who, what, when, which commit; --task, --since and --failures choose', async () => {
  const user = await busyUser()
  const { events } = (await offshoot(user, 'audit', '--json')).json
  const told = events.map(({ task, what }: { task: string; what: string }) => `${task} ${what}`)
  for (const act of ['T1 start.begun', 'T1 run.begun', 'T1 checkpoint', 'T1 operation.done', 'T2 run.ended'])
    expect(told).toContain(act)
  expect(events.find(({ what }: { what: string }) => what === 'checkpoint')).toMatchObject({
    at: expect.stringMatching(/^\d{4}-/),
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
  })
  const only = async (...args: string[]) => (await offshoot(user, 'audit', '--json', ...args)).json.events
  expect(new Set((await only('--task', 'T2')).map(({ task }: { task: string }) => task))).toEqual(
    new Set(['T2']),
  )
  expect(await only('--since', '2999-01-01')).toEqual([])
  expect(await only('--since', '1d')).toHaveLength(events.length)
  expect(await only('--failures')).toMatchObject([{ task: 'T2', what: 'run.ended' }])
  expect((await offshoot(user, 'audit', '--task', 'nobody')).code).toBe(3)
  for (const since of ['yesterday-ish', '2026-02-30', '2026-13-01', '2026-02-30T10:00'])
    expect([since, (await offshoot(user, 'audit', '--since', since)).code]).toEqual([since, 2])
})

test.each(['squash', 'merge', 'rebase'])(
  'R9: the log tells the commit that an accept as %s landed, and where its undo went',
  async (as) => {
    const user = testRepo()
    await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo work > work.txt')
    const before = user.git('rev-parse', 'main').trim()
    await offshoot(user, 'accept', 'T1', '--as', as)
    const landed = user.git('rev-parse', 'main').trim()
    await offshoot(user, 'undo')
    const { events } = (await offshoot(user, 'audit', '--json')).json
    const done = events.filter(({ what }: { what: string }) => what === 'operation.done')
    expect(done.map(({ commit }: { commit: string }) => commit)).toEqual([landed, before])
  },
)

test('R9: every line of the log tells who: the agent of what it did in its run, else the process', async () => {
  const user = await busyUser()
  const { events } = (await offshoot(user, 'audit', '--task', 'T1', '--json')).json
  const who = new Map<string, string>(events.map(({ what, by }: { what: string; by: string }) => [what, by]))
  for (const what of ['run.begun', 'checkpoint', 'run.ended'])
    expect([what, who.get(what)]).toEqual([what, 'sh'])
  for (const what of ['start.done', 'publish.done', 'operation.staged', 'operation.done'])
    expect([what, who.get(what)]).toEqual([what, expect.stringMatching(/^process \d+$/)])
  expect([...who].filter(([, by]) => !by)).toEqual([])
  expect(who.get('start.done')).not.toBe(who.get('operation.done'))
})

test('R9: what recovery and repair put right is in the log as well', async () => {
  const user = testRepo()
  await offshoot(user, 'start', 'T1')
  for (const ref of [
    'refs/heads/offshoot/T1',
    user.git('for-each-ref', '--format=%(refname)', 'refs/offshoot/base').trim(),
  ])
    user.git('update-ref', '-d', ref)
  await offshoot(user, 'repair')
  const { events } = (await offshoot(user, 'audit', '--json')).json
  const mended = events.filter(({ what }: { what: string }) => what === 'mended')
  expect(mended.map(({ detail }: { detail: string }) => detail).toSorted()).toEqual([
    expect.stringMatching(/^set refs\/heads\/offshoot\/T1 to [0-9a-f]{40}$/),
    expect.stringMatching(/^set refs\/offshoot\/base\/\w{20} to [0-9a-f]{40}$/),
  ])
})

function recorded(user: TestRepo): string {
  const db = openDatabase(user)
  const all = ['events', 'tasks'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
  db.close()
  return JSON.stringify(all)
}

/** All that is written down: the records, and every commit, of the vault as well. */
function writtenDown(user: TestRepo): string {
  const [vault = ''] = globSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'vaults/*.git'))
  const alternates = path.join(user.dir, '.git/objects')
  const steps = execFileSync('git', ['--git-dir', vault, 'log', '--all', '--format=%D %B'], {
    env: { ...user.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates },
    encoding: 'utf8',
  })
  return recorded(user) + steps + user.git('log', '--all', '--format=%D %B')
}

test('R9: a secret on a command line, and the environment, are in no record and in no commit', async () => {
  const user = withEnv(testRepo(), { DEPLOY_KEY: 'from-the-environment' })
  const secret = 'hunter2hunter2'
  await offshoot(user, 'run', '--', 'sh', '-c', `echo x > x.txt # --token=${secret}`)
  const all = writtenDown(user)
  expect(all).toContain('echo x > x.txt')
  for (const hidden of [secret, 'from-the-environment']) expect(all).not.toContain(hidden)
  expect(user.git('log', '--all', '--format=%B')).toContain('echo x > x.txt')
  expect((await offshoot(user, 'audit')).stdout).not.toContain(secret)
})

test("R9: a secret in the shell text of an agent's tool is in no record and in no commit", async () => {
  const user = testRepo()
  const { path: folder } = (await offshoot(user, 'start', 'T1', '--json')).json.task
  writeFileSync(path.join(folder, 'x.txt'), 'x\n')
  const command =
    "deploy --token s3cr3t-abc --password hunter2; SECRET_KEY=foo123 DB_PASS=barbar PRIVATE_KEY=bazbaz curl -H 'X-Api-Key: k3yk3y'"
  await hook(user, 'PostToolUse', {
    cwd: folder,
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: 'c',
  })
  const all = writtenDown(user) + (await offshoot(user, 'audit')).stdout
  expect(user.git('log', '-1', '--format=%s', 'offshoot/T1')).toBe(
    "AI Tool: Bash - deploy --token *** --password ***; SECRET_KEY=*** DB_PASS=*** PRIVATE_KEY=*** curl -H 'X-Api-Key: ***'\n",
  )
  for (const secret of ['s3cr3t', 'hunter2', 'foo123', 'barbar', 'bazbaz', 'k3yk3y'])
    expect(all).not.toContain(secret)
})

test("R9: a secret in what a failing filter of the user's says is in no record", async () => {
  const user = testRepo({ 'a.txt': 'one\n', '.gitattributes': 'a.txt filter=remote\n' })
  user.git('config', 'filter.remote.smudge', 'echo "cannot reach https://bob:s3cr3tpw@host/x" >&2; exit 1')
  user.git('config', 'filter.remote.required', 'true')
  expect((await offshoot(user, 'start', 'T1')).code).not.toBe(0)
  const { events } = (await offshoot(user, 'audit', '--failures', '--json')).json
  expect(events).toMatchObject([{ what: 'start.undone', detail: expect.stringContaining('bob:***@host') }])
  expect(recorded(user)).not.toContain('s3cr3tpw')
})

test('R9: a secret in a prompt is for the agent alone, and one in its last words for nobody', async () => {
  const user = withStandIn(testRepo())
  const secret = 'hunter2hunter2'
  const said = `Deploy with API_KEY=${secret} now`
  const prompt = play({ say: said }, { write: 'x.txt' }, { fail: `401: Authorization: Basic ${secret}` })
  const ran = await offshoot(user, 'run', prompt)
  expect(ran.stdout + ran.stderr).toContain(said)
  const [task] = (await offshoot(user, 'list', '--json')).json.tasks
  expect(task).toMatchObject({
    reason: '401: Authorization: Basic ***',
    title: expect.stringContaining('API_KEY=***'),
  })
  await offshoot(user, 'start', '--title', `Try ${said}`)
  await offshoot(user, 'accept', task.id, '--as', 'squash')
  expect(user.git('log', '-1', '--format=%B')).toContain('API_KEY=***')
  const all = writtenDown(user)
  expect(all).toContain('Try Deploy with API_KEY=***')
  expect(all).not.toMatch(new RegExp(secret, 'i'))
})

test('R3, R9: what gave a task up by itself is a line in the failure log', async () => {
  const user = withEnv(testRepo(), { OFFSHOOT_AUTO_REVERT_FAILURE: 'always' })
  const ran = await offshoot(user, 'run', '--task', 'T1', '--json', '--', 'sh', '-c', 'exit 3')
  const [{ operation }] = ran.json.notices
  const { events } = (await offshoot(user, 'audit', '--failures', '--json')).json
  expect(events).toMatchObject([
    { what: 'run.ended' },
    { what: 'reverted', operation, detail: 'failure: sh ended with exit code 3' },
  ])
})

test('R9: --verify is content with a log as it was written, and finds each way of tampering with it', async () => {
  const user = await busyUser()
  const sound = await offshoot(user, 'audit', '--verify', '--json')
  expect([sound.code, sound.json.verified]).toMatchObject([0, { flaws: [] }])
  const { entries } = sound.json.verified
  const ways = {
    changed: "UPDATE events SET event = replace(event, 'T1', 'T9') WHERE seq = 1",
    'dated back': "UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 3",
    'taken away': 'DELETE FROM events WHERE seq = 4',
    'the last taken away': `DELETE FROM events WHERE seq = ${entries}`,
    'all taken away': 'DELETE FROM events',
    swapped:
      'UPDATE events SET seq = -1 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 6; UPDATE events SET seq = 6 WHERE seq = -1',
    invented: `INSERT INTO events (uid, n, at, type, event, seal) SELECT uid, 99, at, type, event, seal FROM events WHERE seq = 2`,
  }
  for (const [way, sql] of Object.entries(ways)) {
    const db = openDatabase(user)
    db.exec(`PRAGMA foreign_keys = OFF; CREATE TABLE kept AS SELECT * FROM events; ${sql}`)
    const found = await offshoot(user, 'audit', '--verify', '--json')
    expect([way, found.code]).toEqual([way, 1])
    expect(found.json.verified.flaws.length, way).toBeGreaterThan(0)
    db.exec('DELETE FROM events; INSERT INTO events SELECT * FROM kept; DROP TABLE kept')
    db.exec(`UPDATE sqlite_sequence SET seq = ${entries} WHERE name = 'events'`)
    db.close()
  }
  expect((await offshoot(user, 'audit', '--verify')).code).toBe(0)
})
