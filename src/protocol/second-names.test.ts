import { expect, test } from 'vitest'
import { actions, aliases } from '../actions/index.ts'
import { taskStates } from '../core/model/enums.ts'
import { viewOf } from '../../test/support/task-view.ts'
import { parseRequest } from './parse.ts'
import {
  isSecondName,
  parseSecond,
  secondAnswer,
  type SecondName,
  secondNames,
  worktreeSchema,
} from './second-names.ts'

const named = { repository: undefined, folder: undefined, task: 'T1' }

test.each<[SecondName, object, string, object]>([
  ['worktree.list', { repository_id: 'r' }, 'task.list', {}],
  ['worktree.list', { repository_id: 'r', all: true }, 'task.list', { all: true }],
  ['worktree.get', { task_id: 'T1' }, 'task.show', {}],
  ['worktree.diff', { task_id: 'T1' }, 'task.diff', {}],
  ['worktree.merge', { task_id: 'T1' }, 'task.accept', { as: 'merge' }],
  ['worktree.merge', { task_id: 'T1', merge_method: 'merge' }, 'task.accept', { as: 'merge' }],
  ['worktree.merge', { task_id: 'T1', merge_method: 'squash' }, 'task.accept', { as: 'squash' }],
  ['worktree.merge', { task_id: 'T1', merge_method: 'rebase' }, 'task.accept', { as: 'rebase' }],
  ['worktree.merge', { task_id: 'T1', cleanup_after: true }, 'task.accept', { as: 'merge' }],
  ['worktree.merge', { task_id: 'T1', cleanup_after: false }, 'task.accept', { as: 'merge', keep: true }],
  ['worktree.discard', { task_id: 'T1' }, 'task.reject', {}],
  ['task.close', { task_id: 'T1', merge_option: 'merge' }, 'task.accept', { as: 'merge' }],
  ['task.close', { task_id: 'T1', merge_option: 'squash' }, 'task.accept', { as: 'squash' }],
  ['task.close', { task_id: 'T1', merge_option: 'discard' }, 'task.reject', {}],
  ['task.close', { task_id: 'T1', merge_option: 'keep_branch' }, 'task.accept', { as: 'keep-branch' }],
  [
    'orchestrator.start',
    { task_id: 'T1', prompt: 'Fix it', agent_type: 'codex', base_branch: 'main' },
    'task.detach',
    { create: true, prompt: 'Fix it', agent: 'codex', from: 'main' },
  ],
  [
    'orchestrator.start',
    { task_id: 'T1', prompt: 'x', priority: 5, metadata: { a: 1 } },
    'task.detach',
    { create: true, prompt: 'x', priority: 5, metadata: { a: 1 } },
  ],
])('D10: %s with %j is %s with %j', (name, payload, action, input) => {
  expect(parseSecond(name, payload)).toMatchObject({ ok: true, action })
  expect(parseSecond(name, payload)).toHaveProperty('input', input)
  // The schema of the action takes it, once the repository is found.
  const meant = action === 'task.list' ? { repo: '/shop' } : { repo: '/shop', task: 'T1' }
  expect(parseRequest(action, { ...meant, ...input })).toMatchObject({ ok: true })
})

test('D10: the repository and the task are named by id, by folder or by both', () => {
  expect(parseSecond('worktree.get', { task_id: 'T1' })).toMatchObject({ meant: named })
  expect(parseSecond('worktree.get', { task_id: 'T1', repository_id: 'r' })).toMatchObject({
    meant: { ...named, repository: 'r' },
  })
  expect(parseSecond('worktree.list', { repository_path: '/shop' })).toMatchObject({
    meant: { folder: '/shop', task: undefined },
  })
})

test.each<[SecondName, object, string]>([
  ['worktree.get', {}, 'task_id'],
  ['worktree.merge', { task_id: 'T1', merge_method: 'octopus' }, 'merge_method'],
  ['worktree.merge', { task_id: 'T1', cleanup_after: 'yes' }, 'cleanup_after'],
  ['task.close', { task_id: 'T1' }, 'merge_option'],
  ['task.close', { task_id: 'T1', merge_option: 'rebase' }, 'merge_option'],
  ['orchestrator.start', { task_id: 'T1' }, 'prompt'],
  ['orchestrator.start', { task_id: 'T1', prompt: 'x', priority: 'high' }, 'priority'],
])('D10: %s with %j is refused: %s', (name, payload, field) => {
  expect(parseSecond(name, payload)).toMatchObject({ ok: false, field })
})

test('D10: an unknown field is refused', () => {
  expect(parseSecond('worktree.get', { task_id: 'T1', surprise: 1 })).toMatchObject({ ok: false })
})

test('D10: a name of the table of actions is a second name only with a field of ours', () => {
  const own = Object.keys(secondNames).filter((name) => name in actions)
  expect(own).toEqual(['worktree.list'])
  expect(isSecondName('worktree.list', { repo: '/shop' }, true)).toBe(false)
  expect(isSecondName('worktree.list', { repository_id: 'r' }, true)).toBe(true)
  expect(isSecondName('toString', {}, false)).toBe(false)
  expect(Object.keys(secondNames).filter((name) => name in aliases)).toEqual([])
})

test.each(taskStates)('D10: a task in the state %s is a worktree', (state) => {
  const closed = state === 'accepted' || state === 'rejected' || state === 'kept'
  const at = '2026-05-04T09:30:00.000Z'
  const task = viewOf('T1', { state, ...(closed && { closedAt: at }) })
  const { worktree } = secondAnswer({ task }) as { worktree: Record<string, unknown> }
  expect(worktreeSchema.strict().parse(worktree)).toEqual(worktree)
  const status = state === 'accepted' ? 'merged' : closed ? 'deleted' : 'active'
  expect(worktree).toMatchObject({ id: task.uid, task_id: 'T1', repository_id: task.repoId, status, state })
  expect(worktree.merged_at ?? worktree.deleted_at).toBe(closed ? at : undefined)
})

test('D10: a list is answered as worktrees alone, a diff as it is', () => {
  expect(secondAnswer({ seq: 3, tasks: [viewOf('T1'), viewOf('T2')] })).toMatchObject({
    worktrees: [{ task_id: 'T1' }, { task_id: 'T2' }],
  })
  expect(secondAnswer({ diff: 'x' })).toEqual({ diff: 'x' })
})
