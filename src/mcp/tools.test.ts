import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ActionName, actions } from '../actions/index.ts'
import { scopes } from '../core/model/enums.ts'
import { schemas } from '../protocol/schemas/index.ts'
import { findAction, toolName, toolsFor } from './tools.ts'

const names = Object.keys(actions) as ActionName[]
const listed = (...asked: Parameters<typeof toolsFor>) => toolsFor(...asked).map(({ name }) => name)

test('M1: every action is a tool for the user, by a name that every model takes, and no two have the same', () => {
  const tools = listed({ kind: 'user' }, true)
  expect(tools).toEqual(names.map(toolName))
  for (const tool of tools) expect(tool).toMatch(/^[a-zA-Z0-9_]{1,64}$/)
  expect(tools.map(findAction)).toEqual(names)
  expect(findAction('task.accept')).toBeUndefined()
  expect(findAction('toString')).toBeUndefined()
})

test.each(scopes)('M2: a token of the scope %s is offered what it may do', (scope) => {
  const found = listed({ kind: 'token', scopes: [scope] }, true)
  expect(found).toEqual(names.filter((name) => actions[name].scope === scope).map(toolName))
})

test('M2: an agent is offered its own rights, and to tell what it wants to land', () => {
  const tools = toolsFor({ kind: 'agent', run: 'r1' }, true)
  const found = tools.map(({ name }) => findAction(name)!)
  expect(found).toContain('task.checkpoint')
  expect(found).not.toContain('task.run')
  for (const { name, description } of tools) {
    const { forAgent, group } = actions[findAction(name)!]
    expect({ name, may: forAgent !== undefined || group === 'land' }).toEqual({ name, may: true })
    expect(description?.includes('tells them that you want it')).toBe(forAgent === undefined)
  }
})

test('M6: a repository must be named only where no folder stands for it', () => {
  const required = (hasFolder: boolean) =>
    toolsFor({ kind: 'user' }, hasFolder).find(({ name }) => name === 'task_exists')?.inputSchema.required
  expect(required(true)).toEqual(['task'])
  expect(required(false)).toEqual(['repo', 'task'])
})

test.each(toolsFor({ kind: 'user' }, false))(
  'M1: the schema of $name takes what the action takes',
  (tool) => {
    const { input } = schemas[findAction(tool.name)!]
    const fields = Object.entries(input.shape as Record<string, z.ZodType>)
    const { properties = {}, required = [] } = tool.inputSchema
    expect(Object.keys(properties)).toEqual(fields.map(([field]) => field))
    expect(required).toEqual(
      fields.filter(([, schema]) => !schema.safeParse(undefined).success).map(([field]) => field),
    )
    // Some hosts leave out what is marked so, and models count every word.
    expect(JSON.stringify(properties)).not.toMatch(/readOnly|\$schema|900719/)
    expect(z.fromJSONSchema(tool.inputSchema as never).safeParse({ frob: 1 }).success).toBe(false)
  },
)
