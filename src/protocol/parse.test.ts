import { expect, test } from 'vitest'
import { parseRequest } from './parse.ts'

test('I1: a request is read by the schema of its action', () => {
  const input = { repo: '.', task: 'T1', as: 'squash', steps: [1, 2] }
  expect(parseRequest('task.accept', input)).toEqual({ ok: true, action: 'task.accept', input })
})

test('I1: a second name means the action behind it', () => {
  expect(parseRequest('worktree.show', { repo: '.' })).toMatchObject({ ok: true, action: 'task.show' })
})

test.each([
  ['task.frob', {}, undefined],
  ['toString', {}, undefined],
  ['task.list', {}, 'repo'],
  ['task.list', 'all', undefined],
  ['task.accept', { repo: '.', as: 'frob' }, 'as'],
  ['task.accept', { repo: '.', steps: [1, 'two'] }, 'steps.1'],
])('I5: %s with %j is refused, and the field is named', (name, input, field) => {
  const request = parseRequest(name, input)
  expect(request).toEqual({ ok: false, problem: expect.stringMatching(/./), ...(field && { field }) })
})

test('P4.6: no input can say who calls', () => {
  for (const claim of [{ isUnattended: false }, { caller: { kind: 'user' } }, { scopes: ['admin'] }])
    expect(parseRequest('system.trust', { repo: '.', ...claim }).ok).toBe(false)
})
