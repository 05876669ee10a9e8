import { expect, test } from 'vitest'
import { z } from 'zod'
import { schemas } from '../protocol/schemas/index.ts'
import type { Option } from './action.ts'
import { type ActionName, actions, aliases } from './index.ts'

const names = Object.keys(actions) as ActionName[]

/** What a schema says of one field, in the words of the table. */
function described(schema: z.ZodType): Pick<Option, 'type' | 'many' | 'values' | 'required'> {
  if (schema instanceof z.ZodOptional) {
    const { required: _, ...inner } = described(schema.unwrap() as z.ZodType)
    return inner
  }
  if (schema instanceof z.ZodReadonly) return described(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodArray) return { ...described(schema.element as z.ZodType), many: true }
  if (schema instanceof z.ZodEnum) return { type: 'text', values: schema.options as string[], required: true }
  if (schema instanceof z.ZodNumber) return { type: 'number', required: true }
  if (schema instanceof z.ZodBoolean) return { type: 'boolean', required: true }
  // `resume` is true or an id.
  return { type: 'text', required: true }
}

test.each(names)('I1: the table and the schema agree on the input of %s', (name) => {
  const { repo: _, ...fields } = schemas[name].input.shape as Record<string, z.ZodType>
  const shown = Object.entries(actions[name].options).map(([field, { type, many, values, required }]) => [
    field,
    { type, ...(many && { many }), ...(values && { values }), ...(required && { required }) },
  ])
  const expected = Object.entries(fields).map(([field, schema]) => [field, described(schema)])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(expected))
})

test.each(names)('I1: what %s takes by position, or previews with, is one of its options', (name) => {
  const { args = [], options, previews } = actions[name]
  for (const { option } of args) expect(options[option]?.value).toMatch(/^[A-Z]+$/)
  expect([...Object.keys(options), undefined]).toContain(previews)
})

test.each(names)('P2: %s says by what right it is done', (name) => {
  const { writes, recovers, revertsFirst, forAgent, previewWrites, previews, options, scope } = actions[name]
  const { destructive, idempotent } = actions[name]
  expect({ name, looks: scope === 'look' && writes }).not.toEqual({ name, looks: true })
  if (recovers || revertsFirst) expect(writes).toBe(true)
  // A door that is asked again for the same thing does it once only if it knows that it writes.
  if (destructive && !idempotent) expect({ name, writes }).toEqual({ name, writes: true })
  if (forAgent === 'all') expect(scope).toBe('look')
  if (forAgent === 'own') expect(options.task).toBeDefined()
  if (previewWrites) expect(previews).toBeDefined()
})

test.each(names)('M2: %s says what a person is to be asked about', (name) => {
  const { scope, writes, destructive, idempotent, inCheckout = {}, options } = actions[name]
  if (scope === 'look') expect({ name, destructive, idempotent }).toEqual({ name })
  if (scope === 'land') expect({ name, destructive }).toEqual({ name, destructive: true })
  if (destructive || idempotent) expect(writes || scope !== 'look').toBe(true)
  for (const [field, value] of Object.entries(inCheckout)) expect(options[field]?.values).toContain(value)
})

test('I1: each verb is in the table once; a second name leads to it', () => {
  expect(names.filter((name) => name in aliases)).toEqual([])
  for (const name of Object.values(aliases)) expect(names).toContain(name)
})
