import { describe, expect, test } from 'vitest'
import { defaultSettings, type Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import { findTrigger } from './auto-revert.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()
const shadow = { gitDir: '', operation: '' }

const found = (task: Partial<Task>, autoRevert: Partial<Settings['autoRevert']> = {}) =>
  findTrigger(
    { state: 'active', lastActiveAt: minutesAgo(0), ...task } as Task,
    { ...defaultSettings, autoRevert: { ...defaultSettings.autoRevert, ...autoRevert } },
    now,
  )?.trigger

describe('findTrigger', () => {
  test.each(['failure', 'shutdown'] as const)(
    'R3: after a %s a task on a shadow branch is given up, and no other',
    (trigger) => {
      const failed = { state: 'failed', reason: 'why', trigger } as const
      expect(found({ ...failed, shadow })).toBe(trigger)
      expect(found(failed)).toBeUndefined()
      expect(found(failed, { [trigger]: 'always' })).toBe(trigger)
      expect(found({ ...failed, shadow }, { [trigger]: 'never' })).toBeUndefined()
    },
  )

  test('R3: after 30 minutes without use it is given up, and not before', () => {
    expect(found({ shadow, lastActiveAt: minutesAgo(29.9) })).toBeUndefined()
    expect(found({ shadow, lastActiveAt: minutesAgo(30) })).toBe('idle')
    expect(found({ lastActiveAt: minutesAgo(300) })).toBeUndefined()
    expect(found({ lastActiveAt: minutesAgo(300) }, { idle: 'always' })).toBe('idle')
    expect(found({ shadow, lastActiveAt: minutesAgo(31) }, { idleMinutes: 60 })).toBeUndefined()
    expect(found({ shadow, lastActiveAt: minutesAgo(300) }, { idle: 'never' })).toBeUndefined()
  })

  test('R3: neither a closed task is given up, nor one in the middle of something', () => {
    const old = { shadow, lastActiveAt: minutesAgo(100) }
    const owner = { pid: 1, startedAt: '1', boot: 'b' }
    expect(found({ ...old, state: 'accepted' })).toBeUndefined()
    expect(found({ ...old, pending: { verb: 'run', owner, run: 'r' } })).toBeUndefined()
    const queued = [{ entry: 'e', agent: 'claude', what: 'x', priority: 0, at: old.lastActiveAt }]
    expect(found({ ...old, queued })).toBeUndefined()
    expect(found(old)).toBe('idle')
  })
})
