import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { TaskView } from '../core/model/task-view.ts'
import { taskSchema } from './schemas/common.ts'

test('I1: the schema of a task is the type of its view', () => {
  type Answered = z.infer<typeof taskSchema>
  expectTypeOf<Answered>().toExtend<TaskView>()
  expectTypeOf<TaskView>().toExtend<Answered>()
  expectTypeOf<keyof Answered>().toEqualTypeOf<keyof TaskView>()
})

test('I1: the compiler refuses a field that only one of schema and view has', () => {
  const { slug, ...others } = taskSchema.shape
  // @ts-expect-error The view has a slug.
  const less = others satisfies Record<keyof TaskView, z.ZodType>
  expect(Object.keys(less)).not.toContain('slug')
  // @ts-expect-error The view has no colour.
  const more = { ...others, slug, colour: z.string() } satisfies Record<keyof TaskView, z.ZodType>
  expect(Object.keys(more)).toContain('colour')
})

test('I1: docs/commands.md names every field of a task, and no other', () => {
  const docs = readFileSync(path.resolve(import.meta.dirname, '../../docs/commands.md'), 'utf8')
  const [, listed = ''] = /^A task: ([^]*?)\.\n\n/m.exec(docs) ?? []
  const named = Array.from(
    listed.replaceAll(/\([^)]*\)/g, '').matchAll(/`([a-zA-Z]+)`/g),
    ([, name = '']) => name,
  )
  expect(named.toSorted()).toEqual(Object.keys(taskSchema.shape).toSorted())
})
