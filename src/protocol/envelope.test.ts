import { expect, test } from 'vitest'
import { readMessage, requirePayload } from './envelope.ts'

const request = { id: 'a', type: 'request', action: 'task.list', payload: { repo: '/shop' } }

test('D9: a request and a cancel are read', () => {
  expect(readMessage(JSON.stringify(request))).toEqual({ ok: true, message: request })
  expect(readMessage('{"id":"a","type":"cancel"}')).toEqual({
    ok: true,
    message: { id: 'a', type: 'cancel' },
  })
  const { payload: _, ...bare } = request
  expect(readMessage(JSON.stringify(bare))).toEqual({ ok: true, message: { ...bare, payload: {} } })
})

test.each<[string, string | null, string | null]>([
  ['', null, null],
  ['nonsense', null, null],
  ['[]', null, null],
  ['null', null, null],
  ['"x"', null, null],
  ['{}', null, null],
  [JSON.stringify({ ...request, id: undefined }), null, 'task.list'],
  [JSON.stringify({ ...request, id: 7 }), null, 'task.list'],
  [JSON.stringify({ ...request, id: '' }), null, 'task.list'],
  [JSON.stringify({ ...request, id: 'a b' }), null, 'task.list'],
  [JSON.stringify({ ...request, id: 'x'.repeat(129) }), null, 'task.list'],
  [JSON.stringify({ ...request, type: 'response' }), 'a', 'task.list'],
  [JSON.stringify({ ...request, action: 7 }), 'a', null],
  [JSON.stringify({ ...request, payload: [] }), 'a', 'task.list'],
  [JSON.stringify({ ...request, payload: null }), 'a', 'task.list'],
  [JSON.stringify({ ...request, surprise: 1 }), 'a', 'task.list'],
  ['{"id":"a","type":"cancel","payload":{}}', 'a', null],
])('D9: %s is refused, with the id and the action as far as they can be read', (text, id, action) => {
  expect(readMessage(text)).toMatchObject({ ok: false, id, action, error: { problem: 'wrongUsage' } })
})

test('D9: a long name is not sent back whole', () => {
  const read = readMessage(JSON.stringify({ ...request, action: 'x'.repeat(10_000) }))
  expect(read).toMatchObject({ ok: false, action: 'x'.repeat(64) })
})

test.each([
  ['subscribe', { since: -1 }],
  ['subscribe', { since: 'x' }],
  ['subscribe', { repos: '/shop' }],
  ['subscribe', { tasks: [''] }],
  ['subscribe', { surprise: true }],
  ['unsubscribe', { since: 1 }],
  ['ping', { at: 1 }],
] as const)('D9: %s with %j is refused, and the field named', (action, payload) => {
  expect(() => requirePayload(action, payload)).toThrow(action)
})
