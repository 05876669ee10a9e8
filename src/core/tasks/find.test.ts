import { expect, test } from 'vitest'
import type { StoredEvent, TaskEvent } from '../model/events.ts'
import { lastUse } from './find.ts'

const step = { type: 'checkpoint', n: 1, commit: 'c', tool: 'Edit', summary: '', files: [], skipped: [] }
const total = { files: 1, insertions: 1, deletions: 0 }
const answered = { type: 'run.answered', run: 'r', question: 'q', said: 'deny' } as const
const owner = { pid: 1, startedAt: '', boot: '' }

/** The place of each event in the log is its place in the list, from 1. */
const log = (...events: object[]): StoredEvent[] =>
  events.map((event, n) => ({ seq: n + 1, uid: 'u', n: n + 1, at: '', event: event as TaskEvent }))

test.each([
  ['a start', 1, [{ type: 'start.done' }]],
  ['a run', 2, [{ type: 'start.done' }, { type: 'run.begun', run: 'r', agent: 'claude', owner }]],
  ['a step of the user', 2, [{ type: 'start.done' }, { ...step, total }]],
  ['no step of a run', 1, [{ type: 'start.done' }, { ...step, total, run: 'r' }]],
  ['no sweep', 1, [{ type: 'start.done' }, { ...step, total, tool: 'sweep' }]],
  ['an answer', 2, [{ type: 'start.done' }, { ...answered, by: 'user' }]],
  ['no answer that nobody gave', 1, [{ type: 'start.done' }, { ...answered, by: 'nobody' }]],
  ['nothing at all', 0, []],
])('L18: the last use of a task is %s', (_, at, events) => expect(lastUse(log(...events))).toBe(at))
