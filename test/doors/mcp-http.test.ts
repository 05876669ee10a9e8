/** The factory of the MCP door behind HTTP: one request at a time, without a session. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDoor } from '../../src/api/call.ts'
import type { Caller } from '../../src/api/caller.ts'
import { compose } from '../../src/compose/full.ts'
import { openMcp } from '../../src/mcp/index.ts'
import { eras } from '../support/mcp.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

const eraNames = Object.keys(eras) as (keyof typeof eras)[]

/** A client whose requests go to the factory, as a daemon would hand them on. */
async function connected(repo: TestRepo, caller: Caller, era: keyof typeof eras) {
  const ports = compose({ env: repo.env, lendsStreams: false })
  const mcp = openMcp({ call: openDoor(ports, () => caller), caller, version: '1.0.0' })
  const client = new Client({ name: 'test', version: '1.0.0' }, eras[era])
  const fetch = (url: string | URL, init?: RequestInit) => mcp.fetch(new Request(url, init))
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
  onTestFinished(async () => {
    await client.close()
    await mcp.close()
    await ports.close()
  })
  const call = async (name: string, input: object) =>
    (await client.callTool({ name, arguments: { ...input } })).structuredContent as Record<string, unknown>
  return { client, call, mcp }
}

test('S3: a client of 2026 that hangs up cancels what it asked for', async () => {
  const repo = testRepo()
  const { client } = await connected(repo, { kind: 'user' }, 'modern')
  const cancel = new AbortController()
  const line = { repo: repo.dir, task: 'T1', create: true, command: ['sleep', '600'] }
  const onprogress = () => cancel.abort('enough')
  const running = client.callTool(
    { name: 'task_run', arguments: line },
    { signal: cancel.signal, onprogress },
  )
  await expect(running).rejects.toThrow('enough')
  const lib = library(repo)
  await expect.poll(async () => (await lib.show('T1')).running, { timeout: 10_000 }).toBeUndefined()
  expect(await lib.show('T1')).toMatchObject({ state: 'failed' })
})

test('M5: an agent without a folder lists no resources, and wishes for none', async () => {
  const { client } = await connected(testRepo(), { kind: 'agent', run: 'r1' }, 'modern')
  expect((await client.listResources()).resources).toEqual([])
})

describe.each(eraNames)('a client of the era %s', (era) => {
  test('M1: lists and calls tools, and names the repository in each call', async () => {
    const repo = testRepo()
    const { client, call } = await connected(repo, { kind: 'user' }, era)
    const started = await call('task_start', { repo: repo.dir, task: 'T1' })
    expect(started).toMatchObject({ ok: true, task: { id: 'T1' } })
    expect(await call('task_start', { task: 'T2' })).toMatchObject({ ok: false, error: { code: 'WT_019' } })
    expect(await call('task_list', { repo: 'repo' })).toMatchObject({ ok: false, error: { code: 'WT_019' } })
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(['T1 diff', 'T1 log', 'T1 show'])
    const uri = resources.at(-1)?.uri ?? ''
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ uri, text: expect.stringContaining('"id":"T1"') }])
    await expect(client.readResource({ uri: 'offshoot://task/T1/show' })).rejects.toMatchObject({
      code: -32602,
    })
  })

  test('M2: has the rights of its caller', async () => {
    const repo = testRepo()
    const { client, call } = await connected(repo, { kind: 'token', scopes: ['look'] }, era)
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    expect(await call('task_start', { repo: repo.dir, task: 'T1' })).toMatchObject({
      error: { code: 'WT_017' },
    })
  })

  test('M4: is told of progress, and a close waits for what it cancels', async () => {
    const repo = testRepo()
    const { client, mcp } = await connected(repo, { kind: 'user' }, era)
    const told: (string | undefined)[] = []
    let begun = () => {}
    const isBegun = new Promise<void>((resolve) => (begun = resolve))
    const running = client.callTool(
      {
        name: 'task_run',
        arguments: { repo: repo.dir, task: 'T1', create: true, command: ['sleep', '600'] },
      },
      {
        onprogress: ({ message }) => {
          told.push(message)
          begun()
        },
      },
    )
    running.catch(() => {})
    await isBegun
    expect(told[0]).toContain('at work on T1')
    await mcp.close()
    expect(await running).toMatchObject({ isError: true, structuredContent: { error: { code: 'WT_021' } } })
    expect(await library(repo).show('T1')).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/./),
    })
  })
})
