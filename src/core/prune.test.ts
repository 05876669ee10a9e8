import { describe, expect, test } from 'vitest'
import { staleTasks } from './prune.ts'
import type { Task } from './task.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const hours = (count: number) => count * 3_600_000
const policy = { maxAgeDays: 7, minKeep: 2 }

/** Tasks named by how many days ago they were last used. */
const used = (...days: number[]): Task[] =>
  days.map((ago) => ({
    id: String(ago),
    lastActiveAt: new Date(now.getTime() - hours(24 * ago)).toISOString(),
  })) as unknown as Task[]

const stale = (tasks: Task[], more: Partial<typeof policy> = {}, olderThanMs?: number) =>
  staleTasks(tasks, { ...policy, ...more }, now, olderThanMs)
    .filter((verdict) => verdict.stale)
    .map(({ task }) => task.id)

describe('staleTasks', () => {
  test('R6: what nobody used for longer than prune.maxAgeDays can go, oldest first', () => {
    expect(stale(used(1, 8, 30, 2, 9))).toEqual(['30', '9', '8'])
  })

  test('R6: the newest prune.minKeep stay, however old', () => {
    expect(stale(used(30, 10, 20, 40))).toEqual(['40', '30'])
    expect(stale(used(30, 10, 20, 40), { minKeep: 0 })).toEqual(['40', '30', '20', '10'])
    expect(stale(used(30), { minKeep: 5 })).toEqual([])
  })

  test('R7: an age on the command line overrules the setting', () => {
    expect(stale(used(1, 2, 3, 4), { minKeep: 0 }, hours(60))).toEqual(['4', '3'])
    expect(stale(used(1, 2), { minKeep: 0 }, 0)).toEqual(['2', '1'])
  })

  test('R6: exactly the age is not yet older than it', () => {
    expect(stale(used(7), { minKeep: 0 })).toEqual([])
  })

  test('R6: a task in the middle of a verb stays', () => {
    const [task] = used(30) as [Task]
    const busy = {
      ...task,
      pending: { verb: 'start' as const, owner: { pid: 1, startedAt: '1', boot: 'b' } },
    }
    expect(staleTasks([busy], { ...policy, minKeep: 0 }, now)).toEqual([
      { task: busy, stale: false, why: 'start is under way' },
    ])
  })

  test('R11: what has landed can go whatever its age, but not in the middle of a verb', () => {
    const [young, busy] = used(0, 0).map((task, n) => ({ ...task, uid: `u${n}` })) as [Task, Task]
    const owner = { pid: 1, startedAt: '1', boot: 'b' }
    const tasks = [young, { ...busy, pending: { verb: 'publish' as const, owner } }]
    const landed = new Map([
      ['u0', 'main'],
      ['u1', 'main'],
    ])
    expect(staleTasks(tasks, policy, now, undefined, landed).map(({ stale, why }) => [stale, why])).toEqual([
      [true, 'landed in main'],
      [false, 'publish is under way'],
    ])
  })

  test('R6: every task is told, with the reason', () => {
    const verdicts = staleTasks(used(30, 20, 10, 1), policy, now)
    expect(verdicts.map(({ task, why }) => `${task.id}: ${why}`)).toEqual([
      '30: not used for 30 days',
      '20: not used for 20 days',
      '10: one of the newest, always kept',
      '1: used within the last 7 days',
    ])
    expect(staleTasks([], policy, now)).toEqual([])
  })
})
