/** H5: each open task has ports to itself. */
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

const echo = [
  'sh',
  '-c',
  'echo "$OFFSHOOT_PORT $OFFSHOOT_PORT_1 $OFFSHOOT_PORT_9 $OFFSHOOT_PORT_10 $OFFSHOOT_SLUG" > "$HOME/told"',
]
const told = (home: string) => readFileSync(path.join(home, 'told'), 'utf8').trim().split(' ')

test('H5: hooks, runs and exec find the same ports, which show tells, too', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: echo[2]! })
  const { json } = await offshoot(repo, 'start', 'T1', '--json')
  const { ports, slug } = json.task
  expect(ports).toEqual(Array.from({ length: 10 }, (_, n) => ports[0] + n))
  // The last one is empty: the words are ten ports and a name.
  const expected = [ports[0], ports[1], ports[9], '', slug].map(String)
  expect(told(repo.home)).toEqual(expected)
  for (const command of [
    ['exec', 'T1', '--', ...echo],
    ['run', '--task', 'T1', '--', ...echo],
  ]) {
    await offshoot(repo, 'exec', 'T1', '--', 'rm', path.join(repo.home, 'told'))
    expect((await offshoot(repo, ...command)).code).toBe(0)
    expect(told(repo.home)).toEqual(expected)
  }
  expect((await offshoot(repo, 'show', 'T1', '--json')).json.task).toMatchObject({ ports, slug })
  expect((await offshoot(repo, 'show', 'T1')).stdout).toContain(`${ports[0]}–${ports[9]}`)
  expect((await offshoot(repo, 'start', 'T1', '--json')).json.task).toMatchObject({ ports })
})

test('H5: no two open tasks of the machine share a port, also not those of different repositories', async () => {
  const one = testRepo()
  const other = inFolder(
    testRepo({ 'b.txt': 'two\n' }, path.join(one.home, 'other')),
    path.join(one.home, 'other', 'repo'),
  )
  const libs = [library(one), library({ ...other, env: one.env })]
  // Few blocks, so that they meet.
  const tight = { ports: { base: 32_700, size: 6 } }
  const tightLibs = [library(one, { flags: tight }), library({ ...other, env: one.env }, { flags: tight })]
  const started = await Promise.all(
    [...libs, ...tightLibs].flatMap((lib, n) =>
      ['A', 'B', 'C'].map((id) => lib.start({ task: `${id}${n}` })),
    ),
  )
  const ports = started.flatMap(({ task }) => task.ports ?? [])
  expect(ports).toHaveLength(2 * 3 * 10 + 2 * 3 * 6)
  expect(new Set(ports).size).toBe(ports.length)
})

test('H5: a port that somebody listens on is no command’s to use', async () => {
  const repo = testRepo()
  const flags = { ports: { base: 32_764, size: 2 } }
  const server = createServer()
  onTestFinished(() => void server.close())
  const listening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port: 32_765, host: '127.0.0.1' }, () => resolve(true))
  })
  expect(listening).toBe(true)
  const lib = library(repo, { flags })
  const portsIn = async (task: string) => (await lib.task(task).exec(['true'])).task.ports
  await lib.start({ task: 'T1' })
  expect(await portsIn('T1')).toEqual([32_766, 32_767])
  await lib.start({ task: 'T2' })
  await expect(portsIn('T2')).rejects.toMatchObject({ code: 'WT_003' })
  await lib.reject({ task: 'T1' })
  expect(await portsIn('T2')).toEqual([32_766, 32_767])
  await expect(lib.start({ task: 'T3' })).resolves.toMatchObject({ task: { ports: [32_764, 32_765] } })
  await expect(lib.start({ task: 'T4' })).rejects.toMatchObject({ code: 'WT_003' })
})

test('H5: a closed task gives its ports back, and after an undo it has some that are free', async () => {
  const repo = testRepo()
  const lib = library(repo, { flags: { ports: { base: 32_748, size: 10 } } })
  const { task } = await lib.start({ task: 'T1' })
  const { operation } = await lib.reject({ task: 'T1' })
  expect((await lib.show('T1')).ports).toBeUndefined()
  const second = await lib.start({ task: 'T2' })
  const third = await library(repo, { flags: { ports: { base: 32_748, size: 0 } } }).start({ task: 'T3' })
  expect(third.task.ports).toBeUndefined()
  await lib.undo(operation)
  const { task: back } = await lib.task('T1').exec(['true'])
  expect(back.ports).toHaveLength(10)
  expect(new Set([...(back.ports ?? []), ...(second.task.ports ?? [])]).size).toBe(20)
  expect(task.ports).toHaveLength(10)
})

test('H5, R7: records that are rebuilt find the old ports again', async () => {
  const repo = testRepo()
  const before = (await offshoot(repo, 'start', 'T1', '--json')).json.task.ports
  await offshoot(repo, 'exec', 'T1', '--', 'touch', 'a')
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm'])
    rmSync(path.join(repo.env.OFFSHOOT_HOME!, name), { force: true })
  expect((await offshoot(repo, 'repair', '--rebuild', '--json')).json.rebuilt.tasks).toEqual(['T1'])
  await offshoot(repo, 'exec', 'T1', '--', ...echo)
  expect(told(repo.home)[0]).toBe(String(before[0]))
})
