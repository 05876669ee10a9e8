/** Events of a run become updates of a session. */
import { expect, test } from 'vitest'
import type { Told } from '../protocol/events.ts'
import { openUpdates, replayed } from './updates.ts'

const call = { tool: 'Bash', summary: 'npm test', call: 'call1' }
const taken = (...events: Told[]) => {
  const updates = openUpdates('r1', '/w')
  return events.flatMap((event) => updates.take(event))
}
const text = (updates: readonly object[]) =>
  updates.map((one) => (one as { content: { text: string } }).content.text).join('')

test('E1: messages are apart, and parts of one go on in the same line', () => {
  const said = taken(
    { event: 'message', text: 'One' },
    { event: 'message', text: 'Tw', part: true },
    { event: 'message', text: 'o' },
    { event: 'message', text: 'Three' },
  )
  expect(text(said)).toBe('One\n\nTwo\n\nThree')
})

test('E1: a call has one id from its beginning to its end', () => {
  expect(
    taken(
      { event: 'tool.started', ...call },
      { event: 'decided', allow: true, reason: '', ...call },
      { event: 'tool.ended', ok: false, ...call },
    ),
  ).toMatchObject([
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'r1/call1',
      title: 'npm test',
      kind: 'execute',
      status: 'in_progress',
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'r1/call1', status: 'in_progress' },
    { sessionUpdate: 'tool_call_update', toolCallId: 'r1/call1', status: 'failed' },
  ])
})

test('E1: two calls without an id that look the same are two', () => {
  const { call: _, ...same } = call
  const ids = taken(
    { event: 'tool.ended', ok: true, ...same },
    { event: 'tool.ended', ok: true, ...same },
  ).map((one) => 'toolCallId' in one && one.toolCallId)
  expect(new Set(ids).size).toBe(2)
})

test('E2: a denied call has failed, with the reason', () =>
  expect(taken({ event: 'decided', allow: false, reason: 'the user said no', ...call })).toMatchObject([
    { sessionUpdate: 'tool_call', status: 'failed', content: [{ content: { text: 'the user said no' } }] },
  ]))

test('E1: a step of no call is shown by itself', () => {
  const checkpoint = {
    n: 2,
    commit: 'c',
    tool: 'sweep',
    summary: '',
    files: [{ path: 'src/a.ts', status: 'modified' as const }],
    at: '2026-01-01T00:00:00.000Z',
    calls: [],
    skipped: [],
  }
  expect(taken({ event: 'checkpoint', checkpoint })).toMatchObject([
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'r1/step-2',
      title: 'step 2: src/a.ts',
      locations: [{ path: '/w/src/a.ts' }],
    },
  ])
})

test('E1: the plan of the agent is the plan of the session', () =>
  expect(taken({ event: 'plan', entries: [{ text: 'look', state: 'in_progress' }] })).toEqual([
    { sessionUpdate: 'plan', entries: [{ content: 'look', priority: 'medium', status: 'in_progress' }] },
  ]))

test('E4: a transcript begins with what the user said', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const events = [
    { at, event: 'message' as const, text: 'Hello.' },
    { at, event: 'denied' as const, reason: 'no', ...call },
    { at, event: 'step' as const, n: 1 },
  ]
  expect(
    replayed({ run: 'r1', agent: 'claude', prompt: 'do it', startedAt: at, events }, '/w'),
  ).toMatchObject([
    { sessionUpdate: 'user_message_chunk', content: { text: 'do it' } },
    { sessionUpdate: 'agent_message_chunk', content: { text: 'Hello.' } },
    { sessionUpdate: 'tool_call', status: 'failed' },
  ])
})
