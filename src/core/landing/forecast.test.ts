import { describe, expect, test } from 'vitest'
import type { Conflict } from '../model/tree.ts'
import {
  apart,
  differenceOf,
  type Forecast,
  landingOrder,
  marksOf,
  meeting,
  type PairForecast,
  type TaskForecast,
  unknown,
} from './forecast.ts'

const inFile = (path: string): Conflict => ({ path, kind: 'content' })

const task = (id: string, more: Partial<TaskForecast> = {}): TaskForecast => ({
  uid: `uid-${id}`,
  task: id,
  step: 1,
  files: 1,
  branch: 'main',
  target: apart,
  checkout: apart,
  ...more,
})

const clash = (first: string, second: string, path = 'a'): PairForecast => ({
  first,
  second,
  ...meeting([path], [inFile(path)]),
  on: 'checkout',
})

const forecast = (tasks: TaskForecast[], pairs: PairForecast[] = []): Forecast => ({
  at: '2026-11-18T10:00:00.000Z',
  checkout: '/repo',
  after: [],
  tasks,
  pairs,
  order: landingOrder(tasks, pairs),
})

describe('F1: levels', () => {
  test('a conflict counts more than a common file, and that more than nothing', () => {
    expect(meeting(['a'], [inFile('a')]).level).toBe('conflict')
    expect(meeting([], [inFile('a')]).level).toBe('conflict')
    expect(meeting(['a'], []).level).toBe('same-file')
    expect(meeting([], []).level).toBe('none')
    expect(unknown('gone')).toEqual({ level: 'unknown', files: [], conflicts: [], why: 'gone' })
  })
})

describe('F3: the order of landing', () => {
  test('first the task with the fewest conflicts, of several such the oldest', () => {
    const tasks = ['T1', 'T2', 'T3', 'T4'].map((id) => task(id))
    const pairs = [clash('T1', 'T2'), clash('T1', 'T3'), clash('T2', 'T3')]
    expect(landingOrder(tasks, pairs)).toEqual([
      { task: 'T4', why: 'It conflicts with no other task.' },
      { task: 'T1', why: 'It conflicts with the fewest others (T2, T3), and is the oldest of those.' },
      { task: 'T2', why: 'It conflicts with T1: update it when that has landed.' },
      { task: 'T3', why: 'It conflicts with T1, T2: update it when those have landed.' },
    ])
  })

  test('only conflicts with tasks that are left count: T1 has two rivals, each of them one', () => {
    const tasks = ['T1', 'T2', 'T3'].map((id) => task(id))
    const order = landingOrder(tasks, [clash('T1', 'T2'), clash('T1', 'T3')])
    expect(order.map(({ task: id }) => id)).toEqual(['T2', 'T1', 'T3'])
    expect(landingOrder(tasks, [clash('T1', 'T2')]).map(({ task: id }) => id)).toEqual(['T3', 'T1', 'T2'])
  })

  test('a common file that merges cleanly is no conflict, and what does not land now comes last', () => {
    const same: PairForecast = { ...clash('T2', 'T3'), ...meeting(['a'], []) }
    const tasks = [
      task('T1', { checkout: meeting(['a', 'b'], [inFile('a'), inFile('b')]) }),
      task('T2'),
      task('T3'),
      task('T4', { checkout: unknown('T9 is at work there.') }),
      task('T5', { files: 0 }),
    ]
    expect(landingOrder(tasks, [same])).toEqual([
      { task: 'T2', why: 'It conflicts with no other task.' },
      { task: 'T3', why: 'It conflicts with no other task.' },
      { task: 'T1', why: 'It would not land: it conflicts with your checkout in 2 files.' },
      { task: 'T4', why: 'It cannot land now: T9 is at work there.' },
    ])
  })
})

describe('F4: the marks of a list', () => {
  const last = forecast(
    [task('T1'), task('T2', { target: meeting(['b'], [inFile('b')]) }), task('T3')],
    [clash('T1', 'T2')],
  )
  const now = (id: string, step = 1, uid = `uid-${id}`) => ({ task: id, uid, step })

  test('name what a task conflicts with', () => {
    expect(marksOf(last, [now('T1'), now('T2'), now('T3')])).toEqual([
      { task: 'T1', conflicts: ['T2'], outdated: false },
      { task: 'T2', conflicts: ['target', 'T1'], outdated: false },
      { task: 'T3', conflicts: [], outdated: false },
    ])
  })

  test('are outdated when the task, or one that it conflicts with, has taken another step', () => {
    expect(marksOf(last, [now('T1'), now('T2', 2), now('T3')])).toEqual([
      { task: 'T1', conflicts: ['T2'], outdated: true },
      { task: 'T2', conflicts: [], outdated: true },
      { task: 'T3', conflicts: [], outdated: false },
    ])
  })

  test('of a task that is new or has its id from an older one say nothing but that', () => {
    expect(marksOf(last, [now('T3', 1, 'another'), now('T4'), now('T5', 0)])).toEqual([
      { task: 'T3', conflicts: [], outdated: true },
      { task: 'T4', conflicts: [], outdated: true },
    ])
  })

  test('do not name a task that is closed', () => {
    expect(marksOf(last, [now('T2')])).toEqual([{ task: 'T2', conflicts: ['target'], outdated: false }])
  })
})

describe('F7: the difference of two forecasts', () => {
  const [one, two, three] = [task('T1'), task('T2'), task('T3')]

  test('is empty where nothing has changed, whenever it was made', () => {
    const before = forecast([one, two], [clash('T1', 'T2')])
    expect(differenceOf(before, { ...before, at: '2026-11-18T11:00:00.000Z' })).toEqual({
      tasks: [],
      pairs: [],
      gone: [],
    })
  })

  test('has tasks and pairs that are new or otherwise, and a pair that does not meet any more', () => {
    const before = forecast([one, two, three], [clash('T1', 'T2'), clash('T1', 'T3')])
    const moved = { ...two, step: 2 }
    const found = differenceOf(before, forecast([one, moved, three], [clash('T1', 'T3', 'b')]))
    expect(found.tasks).toEqual([moved])
    expect(found.pairs).toEqual([clash('T1', 'T3', 'b'), { ...clash('T1', 'T2'), ...apart }])
    expect(found.gone).toEqual([])
    expect(found.order?.map(({ task: id }) => id)).toEqual(['T2', 'T1', 'T3'])
  })

  test('names tasks that are gone, and does not repeat their pairs', () => {
    const found = differenceOf(forecast([one, two], [clash('T1', 'T2')]), forecast([one]))
    expect(found).toMatchObject({ tasks: [], pairs: [], gone: ['T2'] })
  })

  test('from nothing is everything', () => {
    expect(differenceOf(undefined, forecast([one]))).toEqual({
      tasks: [one],
      pairs: [],
      gone: [],
      order: [{ task: 'T1', why: 'It conflicts with no other task.' }],
    })
  })
})
