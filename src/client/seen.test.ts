import { expect, test } from 'vitest'
import type { Notification } from '../protocol/envelope.ts'
import { receive } from './seen.ts'

const at = '2026-05-04T09:30:00.000Z'
const event = (seq: number, prev: number) =>
  ({
    type: 'notification',
    action: 'task.event',
    payload: { seq, prev, at, task: 'T1', uid: 'u1', repo: 'r1', event: { type: 'start.done' } },
  }) as const satisfies Notification
const beat = (more: { seq?: number; prev?: number }) =>
  ({ type: 'notification', action: 'heartbeat', payload: { at, ...more } }) as const satisfies Notification
const snapshot = (seq: number, log: string) =>
  ({
    type: 'notification',
    action: 'reset',
    payload: { seq, log, why: 'behind', repos: [], tasks: [] },
  }) as const satisfies Notification

test('D11: an event that follows the last one is new', () => {
  expect(receive({ seq: 4, log: 'l' }, event(9, 4))).toEqual({ seen: { seq: 9, log: 'l' }, verdict: 'new' })
  expect(receive({ seq: 4, log: 'l' }, event(9, 2))).toEqual({ seen: { seq: 9, log: 'l' }, verdict: 'new' })
})

test('D11: an event that is known is dropped', () => {
  expect(receive({ seq: 9, log: 'l' }, event(9, 4)).verdict).toBe('old')
  expect(receive({ seq: 9, log: 'l' }, event(5, 4)).verdict).toBe('old')
})

test('D11: a gap is seen by prev, and nothing is taken over', () => {
  const seen = { seq: 4, log: 'l' }
  expect(receive(seen, event(9, 5))).toEqual({ seen, verdict: 'gap' })
  expect(receive({}, event(1, 0))).toEqual({ seen: {}, verdict: 'gap' })
})

test('D11: a sign of life says that there was nothing up to its seq, or that something is missing', () => {
  expect(receive({ seq: 4, log: 'l' }, beat({ seq: 20, prev: 4 })).seen.seq).toBe(20)
  expect(receive({ seq: 4, log: 'l' }, beat({ seq: 20, prev: 5 })).verdict).toBe('gap')
  expect(receive({ seq: 4, log: 'l' }, beat({})).verdict).toBe('old')
})

test('D11: a snapshot replaces what is known, unless it is older', () => {
  expect(receive({ seq: 4, log: 'l' }, snapshot(9, 'l'))).toEqual({
    seen: { seq: 9, log: 'l' },
    verdict: 'new',
  })
  expect(receive({ seq: 4, log: 'l' }, snapshot(2, 'l')).verdict).toBe('old')
  expect(receive({ seq: 4, log: 'l' }, snapshot(2, 'other')).seen).toEqual({ seq: 2, log: 'other' })
})
