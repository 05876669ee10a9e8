import { describe, expect, test } from 'vitest'
import type { Forecasts } from '../api/follow.ts'
import type { Notification, Outgoing } from '../protocol/envelope.ts'
import { openForecastPush } from './forecast-push.ts'

type Changed = Extract<Notification, { action: 'forecast.changed' }>
type Forecast = NonNullable<ReturnType<Forecasts['last']['get']>>

const nothing = { level: 'none', files: [], conflicts: [] } as const
const forecast = (...tasks: string[]): Forecast => ({
  at: '2026-11-18T12:00:00.000Z',
  checkout: '/repo',
  after: [],
  tasks: tasks.map((task) => ({
    uid: task,
    task,
    step: 1,
    files: 1,
    branch: 'main',
    target: nothing,
    checkout: nothing,
  })),
  pairs: [],
  order: [],
})

/** A push to a client that may be slow. */
function pushed(fitsRepo: (id: string) => boolean = () => true) {
  const last = new Map<string, Forecast>([['one', forecast('T1')]])
  const listeners = new Set<(repo: string) => void>()
  const listen: Forecasts['listen'] = (changed) => {
    listeners.add(changed)
    return () => listeners.delete(changed)
  }
  const sent: Outgoing[] = []
  const client = { isQuick: true }
  const wire = {
    push: (message: Outgoing) => void sent.push(message),
    hasRoom: () => true,
    isQuick: () => client.isQuick,
  }
  const push = openForecastPush({ last, listen, wake: () => {}, close: async () => {} }, wire, fitsRepo)
  const make = (repo: string, made: Forecast) => {
    last.set(repo, made)
    for (const changed of listeners) changed(repo)
  }
  const take = () =>
    sent.splice(0).map((message) => {
      if (!('action' in message) || message.action !== 'forecast.changed') return message
      const { repo, whole, tasks, gone } = (message as Changed).payload
      return { repo, whole, tasks: tasks.map(({ task }) => task), gone }
    })
  return { push, make, take, client, listeners }
}

describe('F7: a subscriber', () => {
  test('F7: is told everything first, and then the difference, if there is one', () => {
    const { push, make, take } = pushed()
    push.go()
    expect(take()).toEqual([{ repo: 'one', whole: true, tasks: ['T1'], gone: [] }])
    make('one', { ...forecast('T1'), at: 'later' })
    expect(take()).toEqual([])
    make('one', forecast('T2'))
    expect(take()).toEqual([{ repo: 'one', whole: false, tasks: ['T2'], gone: ['T1'] }])
  })

  test('F7: who reads slowly gets one difference later', () => {
    const { push, make, take, client } = pushed()
    push.go()
    take()
    client.isQuick = false
    make('one', forecast('T1', 'T2'))
    make('one', forecast('T2', 'T3'))
    expect(take()).toEqual([])
    client.isQuick = true
    push.go()
    expect(take()).toEqual([{ repo: 'one', whole: false, tasks: ['T2', 'T3'], gone: ['T1'] }])
  })

  test('F7: hears of the repositories it wants, until it leaves', () => {
    const { push, make, take, listeners } = pushed((id) => id === 'two')
    push.go()
    make('two', forecast('T9'))
    expect(take()).toEqual([{ repo: 'two', whole: true, tasks: ['T9'], gone: [] }])
    push.close()
    expect(listeners.size).toBe(0)
  })
})
