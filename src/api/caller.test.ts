import { expect, test } from 'vitest'
import { scopes } from '../core/model/enums.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { type Caller, callerOf, requireScope } from './caller.ts'

const names = Object.keys(actions) as ActionName[]
const allowed = (caller: Caller, isPreview = false) =>
  names.filter((name) => {
    try {
      requireScope(caller, actions[name], isPreview)
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: 'WT_017' })
      return false
    }
  })

test('P4.6: a process below a run is its agent, any other one the user', () => {
  expect(callerOf('r1')).toEqual({ kind: 'agent', run: 'r1' })
  expect(callerOf('r1', true)).toEqual({ kind: 'agent', run: 'r1' })
  expect(callerOf(undefined, true)).toEqual({ kind: 'user', isUnattended: true })
})

test.each(scopes)(
  'P4.6: a token with the scope %s does what the table has under it, and nothing else',
  (scope) => {
    const found = allowed({ kind: 'token', scopes: [scope] })
    expect(found).toEqual(names.filter((name) => actions[name].scope === scope))
    expect(found.length).toBeGreaterThan(0)
  },
)

test('P4.6: the scopes of a token add up, and none is nothing', () => {
  expect(allowed({ kind: 'token', scopes })).toEqual(names)
  expect(allowed({ kind: 'token', scopes: [] })).toEqual([])
})

test('P4.6: a token that may look sees previews, but for one that takes a step', () => {
  const seen = names.filter((name) => actions[name].scope === 'look' || !actions[name].previewWrites)
  expect(allowed({ kind: 'token', scopes: ['look'] }, true)).toEqual(seen)
  expect(seen).not.toContain('task.accept')
})

test('P4.6: no agent may make, list or revoke tokens', () => {
  for (const name of ['token.create', 'token.list', 'token.revoke'] as const)
    expect(actions[name]).not.toHaveProperty('forAgent')
})

test('P4.6: a token needs the scope land for what changes the checkout of the user', () => {
  const token: Caller = { kind: 'token', scopes: ['look', 'run'] }
  for (const name of ['task.start', 'task.run', 'task.detach'] as const) {
    expect(() => requireScope(token, actions[name], false, { isolation: 'clone' })).not.toThrow()
    expect(() => requireScope(token, actions[name], false, { isolation: 'branch' })).toThrow('scope land')
  }
  expect(actions['system.direct'].scope).toBe('land')
})
