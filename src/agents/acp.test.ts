/** A conversation over the Agent Client Protocol becomes events of a run. */
import * as protocol from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { agreeable, sample } from '../../test/support/samples.ts'
import { acpTalk } from './acp.ts'

type Sent = { readonly id?: unknown; readonly method?: string; readonly result?: unknown }

/** A conversation, and a way to wait for the messages that it sends to the agent. */
function begun(input: { readonly conversationId?: string } = {}) {
  const heard = agreeable()
  const written: Sent[] = []
  let wake = () => {}
  const write = (text: string) => {
    written.push(JSON.parse(text) as Sent)
    wake()
  }
  const talk = acpTalk(protocol, heard.push, { write, end: () => {} })
  const over = talk.converse(
    { prompt: 'do it', terminal: false, projectSettings: false, ...input },
    { workspace: '/w' },
  )
  /** Waits until `find` finds a message among all that were sent. */
  const sent = async (find: (all: readonly Sent[]) => Sent | undefined): Promise<Sent> => {
    for (;;) {
      const found = find(written)
      if (found) return found
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  /** Our request with that number. */
  const request = (n: number) => sent((all) => all.filter(({ method }) => method !== undefined)[n])
  /** Plays a message of an agent; an answer goes to our next request, whatever its id. */
  let answered = 0
  const play = async (messages: readonly object[]) => {
    for (const message of messages) {
      const isAnswer = 'result' in message || 'error' in message
      talk.read(isAnswer ? { ...message, id: (await request(answered++)).id } : message)
    }
  }
  return { heard, written, talk, over, play, request, sent }
}

/** The recorded messages of Gemini CLI 0.61.0 over ACP, with the answers to our requests. */
async function replayed() {
  const talking = begun()
  await talking.play(sample('acp'))
  await talking.over
  return talking
}

test('G1: a talk over ACP becomes events', async () => {
  const { heard, talk } = await replayed()
  expect(heard.said().join('')).toContain('All three steps are done.')
  expect(heard.ended()).toEqual([
    ['edit', 'edit', true, '/REPO/wt-gem/hello.txt'],
    ['edit', 'edit', true, '/REPO/wt-gem/hello.txt'],
    ['execute', 'shell', true, 'cat hello.txt && echo from-bash > b.txt'],
  ])
  expect(talk.end()).toEqual({ ok: true, reason: '' })
})

test('G3: what it asks is answered with one of its own options', async () => {
  const { written } = await replayed()
  expect(written.map(({ method, result }) => method ?? result)).toEqual([
    'initialize',
    'session/new',
    'session/prompt',
    { outcome: { outcome: 'selected', optionId: 'proceed_once' } },
    { outcome: { outcome: 'selected', optionId: 'proceed_once' } },
  ])
})

test('G1: an answer that is an error ends the talk with its message', async () => {
  const { over, play, talk } = begun()
  await play([
    { jsonrpc: '2.0', result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', error: { code: -32_000, message: 'Authentication required' } },
  ])
  await over
  expect(talk.end()).toEqual({ ok: false, reason: 'Authentication required' })
})

test('G1: a conversation goes on by its id, and one that stops early says why', async () => {
  const { heard, over, play, talk, request } = begun({ conversationId: 'before' })
  await play([
    { jsonrpc: '2.0', result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', result: {} },
    { jsonrpc: '2.0', result: { stopReason: 'max_tokens' } },
  ])
  await over
  expect(await request(1)).toMatchObject({ method: 'session/load', params: { sessionId: 'before' } })
  expect(heard.events).toEqual([{ type: 'started', conversationId: 'before' }])
  expect(talk.end()).toEqual({ ok: false, reason: 'it stopped: max_tokens' })
})

test('G1: what an update leaves out is as it was; what we do not offer is refused', async () => {
  const { heard, play, sent, talk, over } = begun()
  const update = (update: object) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: 's', update },
  })
  await play([
    { jsonrpc: '2.0', result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', result: { sessionId: 's' } },
    update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'ls', kind: 'execute', status: 'pending' }),
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', title: null, status: 'failed' }),
    { jsonrpc: '2.0', id: 'x', method: 'fs/read_text_file', params: { sessionId: 's', path: '/etc/x' } },
    { jsonrpc: '2.0', result: { stopReason: 'end_turn' } },
  ])
  await over
  expect(heard.ended()).toEqual([['execute', 'shell', false, 'ls']])
  const refused = await sent((all) => all.find(({ id, method }) => id === 'x' && method === undefined))
  expect(refused).toMatchObject({ error: { code: -32_601 } })
  talk.close()
  talk.read({ jsonrpc: '2.0', id: 'y', method: 'session/update' })
})

test('M5: messages of the wrong form are passed over, and the talk goes on', async () => {
  const { heard, play, talk, over } = begun()
  const update = (update: unknown) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: 's', update },
  })
  await play([
    { jsonrpc: '2.0', result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', result: { sessionId: 's' } },
    ...[null, 7, { sessionUpdate: 'agent_message_chunk', content: null }].map(update),
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 7 } }),
    update({ sessionUpdate: 'tool_call', toolCallId: {}, locations: [null] }),
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'c',
      title: 'x',
      locations: [null],
      status: 'completed',
    }),
    { jsonrpc: '2.0', id: 'q', method: 'session/request_permission', params: { toolCall: null, options: 7 } },
    { jsonrpc: '2.0', method: 7 },
    [],
    { jsonrpc: '2.0', result: { stopReason: 'end_turn' } },
  ])
  await over
  expect(talk.end()).toEqual({ ok: true, reason: '' })
  expect(heard.events.filter((event) => event.type === 'message')).toEqual([])
})

test('E1: its plan is told', async () => {
  const { heard, over, play } = begun()
  const plan = {
    sessionUpdate: 'plan',
    entries: [{ content: 'look', priority: 'high', status: 'completed' }],
  }
  await play([
    { jsonrpc: '2.0', result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', result: { sessionId: 's' } },
    { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: plan } },
    { jsonrpc: '2.0', result: { stopReason: 'end_turn' } },
  ])
  await over
  expect(heard.events).toContainEqual({ type: 'plan', entries: [{ text: 'look', state: 'completed' }] })
})
