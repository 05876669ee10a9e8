import { describe, expect, test } from 'vitest'
import { defaultSettings, type Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import { type PruneFacts, type PruneOptions, pruneVerdicts } from './prune-policy.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const hours = (count: number) => count * 3_600_000

/** Tasks named by how many days ago they were last used. */
const used = (...days: number[]): Task[] =>
  days.map((ago) => ({
    id: String(ago),
    uid: `u${ago}`,
    lastActiveAt: new Date(now.getTime() - hours(24 * ago)).toISOString(),
  })) as unknown as Task[]

interface Given extends PruneOptions {
  readonly prune?: Partial<Settings['prune']>
  readonly perRepo?: number
  /** By the id of the task. */
  readonly facts?: Record<string, PruneFacts>
}

function judged(tasks: readonly Task[], { prune, perRepo = 10, facts = {}, ...options }: Given = {}) {
  const policy = { prune: { ...defaultSettings.prune, ...prune }, limits: { perRepo } }
  const known = new Map(Object.entries(facts).map(([id, fact]) => [`u${id}`, fact]))
  return pruneVerdicts(tasks, policy, now, options, known)
}

const goes = (tasks: readonly Task[], given?: Given) =>
  judged(tasks, given)
    .filter((verdict) => verdict.goes)
    .map(({ task }) => task.id)

const reasons = (tasks: readonly Task[], given?: Given) =>
  judged(tasks, given).map(({ task, why }) => `${task.id}: ${why}`)

const owner = { pid: 1, startedAt: '1', boot: 'b' }

describe('pruneVerdicts', () => {
  test('R6: what nobody used for longer than prune.maxAgeDays can go, oldest first', () => {
    expect(goes(used(1, 8, 30, 2, 9))).toEqual(['30', '9', '8'])
  })

  test('R6: the newest prune.minKeep stay, however old', () => {
    expect(goes(used(30, 10, 20, 40))).toEqual(['40', '30'])
    expect(goes(used(30, 10, 20, 40), { prune: { minKeep: 0 } })).toEqual(['40', '30', '20', '10'])
    expect(goes(used(30), { prune: { minKeep: 5 } })).toEqual([])
  })

  test('R7: an age on the command line overrules the setting', () => {
    const prune = { minKeep: 0 }
    expect(goes(used(1, 2, 3, 4), { prune, olderThanMs: hours(60) })).toEqual(['4', '3'])
    expect(goes(used(1, 2), { prune, olderThanMs: 0 })).toEqual(['2', '1'])
  })

  test('R6: a workspace that its user moved stays, whatever else speaks for going', () => {
    const facts = { 30: { movedTo: '/x/T1', landed: 'main' } }
    expect(goes(used(30, 20), { prune: { minKeep: 0 }, facts })).toEqual(['20'])
    expect(reasons(used(30), { facts })).toEqual(['30: its workspace was moved to /x/T1'])
  })

  test('R6: exactly the age is not yet older than it', () => {
    expect(goes(used(7), { prune: { minKeep: 0 } })).toEqual([])
  })

  test('R6: above limits.perRepo the oldest can go whatever their age, but not the newest few', () => {
    expect(goes(used(1, 2, 3, 4, 5), { perRepo: 3 })).toEqual(['5', '4'])
    expect(reasons(used(1, 2, 3), { perRepo: 2 })[0]).toBe('3: more than 2 are open')
    expect(goes(used(1, 2, 3), { perRepo: 1, prune: { minKeep: 3 } })).toEqual([])
  })

  test('R6: a task in the middle of a verb stays', () => {
    const [task] = used(30) as [Task]
    const busy = { ...task, pending: { verb: 'start' as const, owner } }
    expect(judged([busy], { prune: { minKeep: 0 }, force: true })).toEqual([
      { task: busy, goes: false, why: 'start is under way' },
    ])
    const queued = [{ entry: 'e', agent: 'claude', what: 'x', priority: 0, at: task.lastActiveAt }]
    expect(judged([{ ...task, queued }], { prune: { minKeep: 0 }, force: true })).toMatchObject([
      { goes: false, why: 'a run of it waits for its turn' },
    ])
  })

  test('R6, P1: a task in the checkout of the user stays', () => {
    const [task] = used(30) as [Task]
    const shadow = { ...task, shadow: { gitDir: '', operation: '' } }
    expect(goes([shadow], { prune: { minKeep: 0 }, force: true })).toEqual([])
  })

  test('R6: what no commit and no step holds stays, unless it is forced or the setting says otherwise', () => {
    const facts = { 30: { uncommitted: 2 } }
    const prune = { minKeep: 0 }
    expect(reasons(used(30), { prune, facts })).toEqual(['30: 2 files that no commit and no step holds'])
    expect(goes(used(30), { prune, facts })).toEqual([])
    expect(goes(used(30), { prune, facts, force: true })).toEqual(['30'])
    expect(goes(used(30), { prune: { ...prune, protectUncommitted: false }, facts })).toEqual(['30'])
  })

  test('R6: with prune.cleanupOnComplete what has completed goes whatever its age', () => {
    const done = used(0).map((task) => ({ ...task, state: 'completed' as const }))
    expect(goes(done)).toEqual([])
    expect(goes(done, { prune: { cleanupOnComplete: true } })).toEqual(['0'])
  })

  test('R11: what has landed can go whatever its age, but not in the middle of a verb', () => {
    const [young, busy] = used(0, 1) as [Task, Task]
    const tasks = [young, { ...busy, pending: { verb: 'publish' as const, owner } }]
    const facts = { 0: { landed: 'main' }, 1: { landed: 'main' } }
    expect(reasons(tasks, { facts })).toEqual(['1: publish is under way', '0: landed in main'])
    expect(goes(tasks, { facts })).toEqual(['0'])
  })

  test('R7: a task whose workspace is gone is told, with what makes it again', () => {
    expect(reasons(used(1), { facts: { 1: { gone: true } } })).toEqual([
      '1: its workspace is gone; offshoot start 1 makes it again',
    ])
    expect(goes(used(30, 2, 1), { facts: { 30: { gone: true } } })).toEqual(['30'])
  })

  test('R6: every task is told, with the reason', () => {
    expect(reasons(used(30, 20, 10, 1))).toEqual([
      '30: not used for 30 days',
      '20: not used for 20 days',
      '10: one of the newest, always kept',
      '1: used within the last 7 days',
    ])
    expect(judged([])).toEqual([])
  })
})
