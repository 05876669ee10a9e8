import { expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type { RunTold } from '../core/runs/attend.ts'
import type { TaskEvent } from '../core/model/events.ts'
import { type Said, saidSchema, type taskEventSchema, type Told, toldSchema } from './events.ts'

test('I1: the schema of the log is the type of its events', () => {
  type Kept = z.infer<typeof taskEventSchema>
  expectTypeOf<TaskEvent>().toExtend<Kept>()
  expectTypeOf<Kept>().toExtend<TaskEvent>()
})

test('I1: every event of a run has a schema, and every question its answers', () => {
  expectTypeOf<RunTold['event'] | 'progress' | 'finishing' | 'asked' | 'risky'>().toEqualTypeOf<
    Told['event']
  >()
  expectTypeOf<Said>().toEqualTypeOf<'once' | 'always' | 'deny'>()
  expect(saidSchema.safeParse('perhaps').success).toBe(false)
})

test('I1: an event with a field of the wrong type is refused', () => {
  const queued = { event: 'queued', limit: 2 }
  expect(toldSchema.parse(queued)).toEqual(queued)
  expect(toldSchema.safeParse({ event: 'queued', limit: 'two' }).success).toBe(false)
  expect(toldSchema.safeParse({ event: 'unheard of' }).success).toBe(false)
})
