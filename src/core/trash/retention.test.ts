import { describe, expect, test } from 'vitest'
import type { Task } from '../model/task.ts'
import { announcementsOf, type ClosedTask, compaction, withoutClockJumps } from './retention.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString()
const limits = { keepDays: 30, maxMegabytes: 10 }

/** Closed so many days ago, with so many megabytes in the trash. */
const closed = (days: number, megabytes = 0, more: Partial<Task> = {}): ClosedTask => ({
  task: { uid: `u${days}`, id: String(days), ...more } as Task,
  lastAt: daysAgo(days),
  bytes: megabytes * 1_000_000,
})

const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id)
const gone = (expires: readonly ClosedTask[]) => ids(expires.map(({ task }) => task))

/** Nothing was announced. */
const none = { slims: {}, expires: {} }
const atOnce = { ...none, slims: 'at once' } as const

describe('compaction', () => {
  test('P3: for trash.keepDays nothing expires, and then all of a task does, oldest first', () => {
    const expires = Object.fromEntries([29, 30, 32, 40].map((days) => [`u${days}`, daysAgo(1)]))
    const tasks = [closed(29), closed(32), closed(30), closed(40)]
    expect(gone(compaction(tasks, 0, limits, now, { ...none, expires }).expires)).toEqual(['40', '32'])
  })

  test('R12: what goes for good is announced a day before, also when folders leave at once', () => {
    const at = (when?: string) => {
      const known = { ...atOnce, expires: when === undefined ? {} : { u40: when } }
      const plan = compaction([closed(40)], 0, limits, now, known)
      return [gone(plan.expires), ids(plan.expiring)]
    }
    expect(at()).toEqual([[], ['40']])
    expect(at(daysAgo(0.9))).toEqual([[], ['40']])
    expect(at(daysAgo(1))).toEqual([['40'], []])
    // Of another time that it was closed.
    expect(at(daysAgo(11))).toEqual([[], ['40']])
  })

  test('R12: an announcement is void when the clock was seen to be behind it later', () => {
    const announced = { u31: daysAgo(0), u32: daysAgo(3) }
    expect(withoutClockJumps(announced, [])).toEqual(announced)
    expect(withoutClockJumps(announced, [{ at: daysAgo(0) }])).toEqual(announced)
    expect(withoutClockJumps(announced, [{ at: daysAgo(-1) }, { at: daysAgo(2) }])).toEqual({
      u32: daysAgo(3),
    })
  })

  test('R12: an announcement of a time that is still to come is void, as the clock was ahead', () => {
    const before = { u31: daysAgo(-40), u32: daysAgo(0.5) }
    const plan = compaction([closed(31), closed(32)], 0, limits, now, { ...none, expires: before })
    expect([gone(plan.expires), ids(plan.expiring)]).toEqual([[], ['32', '31']])
    expect(announcementsOf(['u31', 'u32'], before, now)).toEqual({ u31: daysAgo(0), u32: daysAgo(0.5) })
  })

  test('R12: where nothing is to be kept the clock has no say', () => {
    const { expires } = compaction([closed(0.1)], 0, { ...limits, keepDays: 0 }, now, none)
    expect(gone(expires)).toEqual(['0.1'])
  })

  test('P2: an expiry that was begun goes on', () => {
    const { expires } = compaction([closed(1, 0, { expiry: 'begun' })], 0, limits, now, none)
    expect(gone(expires)).toEqual(['1'])
  })

  test('R6: within the limit nothing leaves; above it the oldest folders do, as many as it takes', () => {
    const tasks = [closed(1, 4), closed(3, 4), closed(2, 4)]
    expect(compaction(tasks.slice(1), 2_000_000, limits, now, atOnce).slims).toEqual([])
    expect(ids(compaction(tasks, 0, limits, now, atOnce).slims)).toEqual(['3'])
    expect(ids(compaction(tasks, 7_000_000, limits, now, atOnce).slims)).toEqual(['3', '2', '1'])
  })

  test('R6: what will leave is announced a day before', () => {
    const tasks = [closed(2, 8), closed(1, 8)]
    const first = compaction(tasks, 0, limits, now, none)
    expect([ids(first.slims), ids(first.announced)]).toEqual([[], ['2']])
    const soon = compaction(tasks, 0, limits, now, { ...none, slims: { u2: daysAgo(0.9) } })
    expect([ids(soon.slims), ids(soon.announced)]).toEqual([[], ['2']])
    const then = compaction(tasks, 0, limits, now, { ...none, slims: { u2: daysAgo(1) } })
    expect([ids(then.slims), ids(then.announced)]).toEqual([['2'], []])
  })

  test('R6: what was not announced waits, also when something else was', () => {
    const tasks = [closed(2, 20), closed(1, 20)]
    const plan = compaction(tasks, 0, limits, now, { ...none, slims: { u2: daysAgo(2) } })
    expect([ids(plan.slims), ids(plan.announced)]).toEqual([['2'], ['1']])
  })
})
