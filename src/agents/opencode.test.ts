/** The stream and the plugin of opencode become events of a run. */
import { expect, test } from 'vitest'
import { agreeable, sample } from '../../test/support/samples.ts'
import { opencodeTalk } from './opencode.ts'

test('G1: the stream of opencode 1.18.33 becomes words, a conversation and no failure', () => {
  const heard = agreeable()
  const talk = opencodeTalk(heard.push)
  for (const message of sample('opencode')) talk.read(message)
  expect(heard.events[0]).toEqual({ type: 'started', conversationId: 'ses_e1f8720f4ffei14HHGh6fmg1ir' })
  expect(heard.said()).toEqual(['I will write a file.', 'Now an edit.', 'All three steps are done.'])
  expect(talk.failure()).toBeUndefined()
})

const call = { tool: 'bash', callID: '1', args: { command: 'make' } }

test('K1: what its plugin tells becomes a tool call; a command that fails has failed', async () => {
  const heard = agreeable()
  const talk = opencodeTalk(heard.push)
  await talk.onHook({ hook: 'before', ...call })
  await talk.onHook({ hook: 'after', ...call, exit: 0 })
  await talk.onHook({ hook: 'before', ...call })
  await talk.onHook({ hook: 'after', ...call, exit: 2 })
  expect(heard.ended()).toEqual([
    ['bash', 'shell', true, 'make'],
    ['bash', 'shell', false, 'make'],
  ])
})

test('K2: a tool that fails without a word to the plugin keeps nobody waiting', async () => {
  const heard = agreeable()
  const talk = opencodeTalk(heard.push)
  await talk.onHook({ hook: 'before', ...call })
  const next = talk.onHook({ hook: 'before', ...call, callID: '2' })
  talk.read({ type: 'tool_use', part: { tool: 'bash', callID: '1', state: { status: 'error', input: {} } } })
  expect(await next).toEqual({})
  expect(heard.ended().map(([, , ok]) => ok)).toEqual([false])
})

test('L8: an error of the model is the reason', () => {
  const talk = opencodeTalk(() => {})
  talk.read({ type: 'error', error: { name: 'APIError', data: { message: 'out to lunch' } } })
  expect(talk.failure()).toEqual({ ok: false, reason: 'out to lunch' })
})
