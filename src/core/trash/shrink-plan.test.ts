import { describe, expect, test } from 'vitest'
import type { Task } from '../model/task.ts'
import { isDue, shrinkPlan, type TrashFacts } from './shrink-plan.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
const at = (days: number) => daysAgo(days).toISOString()
const trash = { keepDays: 30, maxMegabytes: 10 }

interface Loose {
  readonly folder: string
  readonly since: Date
}

/** Closed so many days ago, with so many megabytes in the trash. */
const closed = (days: number, megabytes = 0) => ({
  task: { uid: `u${days}`, id: String(days) } as Task,
  lastAt: at(days),
  bytes: megabytes * 1_000_000,
})

const facts = (more: Partial<TrashFacts<Loose>> = {}): TrashFacts<Loose> => ({
  now,
  measuredAt: at(2),
  measures: true,
  closed: [],
  vaultBytes: 0,
  loose: [],
  announced: { slims: {}, expires: {} },
  atOnce: false,
  ...more,
})

describe('shrinkPlan', () => {
  test('R12: loose folders are announced like tasks, and deleted a day later', () => {
    const loose = ['a', 'b'].map((folder) => ({ folder, since: daysAgo(40) }))
    const plan = shrinkPlan(
      facts({ loose, closed: [closed(50)], announced: { slims: {}, expires: { a: at(1) } } }),
      trash,
    )
    expect([plan.loose.goes, plan.loose.waits]).toEqual([[loose[0]], [loose[1]]])
    expect(plan.expiryNotes).toEqual({ u50: at(0), b: at(0) })
  })

  test('R12: an announced folder waits, and meanwhile the vault is not packed', () => {
    const plan = shrinkPlan(facts({ closed: [closed(3, 20)] }), trash)
    expect([plan.slims, plan.slimNotes, plan.packs]).toEqual([[], { u3: at(0) }, false])
  })

  test('R12: with --force it leaves at once, and the vault may be packed', () => {
    const plan = shrinkPlan(facts({ closed: [closed(3, 20)], atOnce: true }), trash)
    expect([plan.slims.map(({ id }) => id), plan.slimNotes, plan.packs]).toEqual([['3'], {}, true])
  })

  test('R12: where nothing was measured, the announcements stay and nothing is packed', () => {
    const plan = shrinkPlan(facts({ measures: false }), trash)
    expect([plan.slimNotes, plan.packs, plan.notesTime]).toEqual([undefined, false, false])
    expect(shrinkPlan(facts({ measures: false, measuredAt: undefined }), trash).notesTime).toBe(true)
  })
})

test.each([
  ['never', undefined, false],
  ['half a day ago', at(0.5), false],
  ['two days ago', at(2), true],
  ['two days from now, because the clock was ahead', at(-2), true],
])('R12: sizes are measured once a day; last %s', (_, last, due) => {
  expect(isDue(last, now)).toBe(due)
})
