/** MCP over HTTP: the daemon's `/mcp`, asked by the SDK's own client of both eras. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { scopesUpTo } from '../../src/core/model/token.ts'
import { toolName } from '../../src/mcp/tools.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { eras } from '../support/mcp.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'

const eraNames = Object.keys(eras) as (keyof typeof eras)[]

let repo: TestRepo
let daemon: TestDaemon

beforeAll(async () => {
  repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  daemon = await startDaemon(repo)
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
})

async function connected(
  era: keyof typeof eras,
  { at = daemon, token = at.token }: { at?: TestDaemon; token?: string } = {},
) {
  const client = new Client({ name: 'test', version: '1.0.0' }, eras[era])
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', at.url), { requestInit }))
  onTestFinished(() => client.close())
  const call = async (name: string, input: object) =>
    (await client.callTool({ name, arguments: { ...input } })).structuredContent as Record<string, unknown>
  return { client, call }
}

/** A run that waits, and is told to have begun. */
async function running(client: Client, task: string, dir = repo.dir) {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const ready = path.join(repo.home, `ready-${task}`)
  const command = ['sh', '-c', `echo half > half.txt; touch '${ready}'; sleep 600`]
  const input = { name: 'task_run', arguments: { repo: dir, task, create: true, command } }
  const answer = client.callTool(input, { onprogress: () => resolve(), timeout: 100_000 })
  answer.catch(() => {})
  await begun
  await until(() => existsSync(ready), 'the command is at work', 30_000)
  return { answer }
}

const shown = async (task: string) => (await daemon.call('task.show', { repo: repo.dir, task })).json.task
async function ended(task: string): Promise<void> {
  await expect.poll(async () => (await shown(task)).running, { timeout: 20_000 }).toBeUndefined()
}

describe.each(eraNames)('M7: a client of the era %s', (era) => {
  test('M7: lists and calls tools, and reads resources', async () => {
    const { client, call } = await connected(era)
    expect(client.getProtocolEra()).toBe(era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual((Object.keys(actions) as ActionName[]).map(toolName))
    const task = `CALLED-${era}`
    expect(await call('task_start', { repo: repo.dir, task })).toMatchObject({ ok: true, task: { id: task } })
    expect(await call('task_start', { task: 'X' })).toMatchObject({ error: { code: 'WT_019' } })
    expect((await client.listResources()).resources.map(({ name }) => name)).toContain(`${task} diff`)
    expect(await shown(task)).toMatchObject({ state: 'active' })
  })

  test('M7: has the rights of its token', async () => {
    const { json } = await offshoot(repo, 'token', 'create', '--scope', 'look', '--json')
    const { client, call } = await connected(era, { token: json.token })
    const { tools } = await client.listTools()
    const looking = (Object.keys(actions) as ActionName[]).filter((name) =>
      scopesUpTo('look').includes(actions[name].scope),
    )
    expect(tools.map(({ name }) => name)).toEqual(looking.map(toolName))
    expect(await call('task_list', { repo: repo.dir })).toMatchObject({ ok: true })
    expect(await call('task_start', { repo: repo.dir, task: 'NO' })).toMatchObject({
      error: { code: 'WT_017', data: { scope: 'run' } },
    })
    await offshoot(repo, 'token', 'revoke', json.id)
    await expect(client.listTools({}, { cacheMode: 'refresh' })).rejects.toThrow('Error POSTing')
  })

  test('M7: is told of progress, and who hangs up cancels; the work is kept', async () => {
    const { client } = await connected(era)
    const task = `LEFT-${era}`
    await running(client, task)
    await client.close()
    await ended(task)
    expect(await shown(task)).toMatchObject({ state: 'failed', checkpoints: 1 })
  })
})

test('M7: a stop of the daemon cancels the calls, and they are answered', async () => {
  const other = testRepo()
  const stopped = await startDaemon(other)
  const { client } = await connected('modern', { at: stopped })
  const { answer } = await running(client, 'STOPPED', other.dir)
  expect(await stopped.stop()).toMatchObject({ code: 0 })
  expect(await answer).toMatchObject({ isError: true, structuredContent: { error: { code: 'WT_021' } } })
  const { json } = await offshoot(other, 'show', 'STOPPED', '--json')
  expect(json.task).toMatchObject({ state: 'failed', checkpoints: 1 })
})

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

test.each<[string, number, () => Record<string, string>]>([
  ['no token', 401, () => ({})],
  ['a wrong token', 401, () => ({ authorization: `Bearer offshoot_zzzzzzzz_${'x'.repeat(43)}` })],
  ['a foreign Origin', 403, () => ({ ...bearer(), origin: 'https://evil.example' })],
  ['a foreign Host', 403, () => ({ ...bearer(), host: 'evil.example' })],
  ['a body that is no JSON', 403, () => ({ ...bearer(), 'content-type': 'text/plain' })],
])('M7, D2: %s is %i, and says no more', async (_, status, headers) => {
  const reply = await daemon.send('/mcp', { method: 'POST', headers: { ...json, ...headers() }, body })
  expect(reply).toMatchObject({ status, text: '' })
})

test('M7: there is no stream of notices, and what is no message is an error', async () => {
  expect(await daemon.send('/mcp', { headers: bearer() })).toMatchObject({ status: 405 })
  expect(await daemon.send('/mcp')).toMatchObject({ status: 401 })
  const headers = { ...json, ...bearer() }
  expect(await daemon.send('/mcp', { method: 'POST', headers, body: '[]' })).toMatchObject({ status: 400 })
  expect(await daemon.send('/mcp', { method: 'POST', headers, body: '{' })).toMatchObject({ status: 400 })
})

const bearer = () => ({ authorization: `Bearer ${daemon.token}` })
