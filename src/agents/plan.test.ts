/** The plan of an agent is read from the input of its own tool, whatever that holds. */
import { expect, test } from 'vitest'
import { planOf } from './plan.ts'

test('E1: the entries of a list of things to do, with their states', () => {
  const todos = [
    { content: 'look', status: 'completed', activeForm: 'Looking' },
    { content: 'write', status: 'in_progress' },
    { content: 'test', status: 'whatever' },
  ]
  expect(planOf({ todos })).toEqual([
    { text: 'look', state: 'completed' },
    { text: 'write', state: 'in_progress' },
    { text: 'test', state: 'pending' },
  ])
})

test.each([undefined, null, 'todos', {}, { todos: 'x' }])('E1: %j is no plan', (input) =>
  expect(planOf(input)).toBeUndefined(),
)

test('E1: what is no entry is left out', () =>
  expect(planOf({ todos: [null, 1, {}, { content: 2 }] })).toEqual([]))
