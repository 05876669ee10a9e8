import { describe, expect, test } from 'vitest'
import { everyKind, viewOf } from '../../../test/support/task-view.ts'
import { groupsOf, inOrder, type Task } from './groups.ts'
import { type Deed, pressed, settleMs, underCursor, type WatchState, withTasks } from './state.ts'

const stateOf = (tasks: readonly Task[], more: Partial<WatchState> = {}): WatchState =>
  withTasks({ repo: 'shop', tasks: [], done: [], ...more }, tasks)

/** Presses keys one after the other, each a second after the one before. */
function type(state: WatchState, ...keys: string[]): { state: WatchState; deeds: Deed[] } {
  const deeds: Deed[] = []
  let now = state
  for (const [n, key] of keys.entries()) {
    const { state: next, deed } = pressed(now, key, { at: 1000 * n, page: 10 })
    now = next
    if (deed) deeds.push(deed)
  }
  return { state: now, deeds }
}

const task = (id: string) => everyKind.find((one) => one.id === id)!
const on = (id: string) => stateOf(everyKind, { cursor: task(id).path })
const idAt = (state: WatchState) => underCursor(state)?.id

describe('W1: the order of the tasks', () => {
  test('W1: those that need you first, then those that run, are ready, and the others', () => {
    const shown = groupsOf(everyKind).map(({ title, tasks }) => [title, tasks.map(({ id }) => id)])
    expect(shown).toEqual([
      ['Needs you', ['asks', 'wants', 'broken']],
      ['Running', ['works']],
      ['Ready to review', ['ready', 'empty']],
      ['Others', ['idle']],
    ])
  })

  test('W1: the cursor moves over all of them, and stays at the ends', () => {
    const all = inOrder(everyKind).map(({ id }) => id)
    let state = stateOf(everyKind)
    expect(idAt(state)).toBe('asks')
    for (const id of [...all.slice(1), all.at(-1)]) {
      state = type(state, 'j').state
      expect(idAt(state)).toBe(id)
    }
    expect(idAt(type(state, 'up').state)).toBe(all.at(-2))
    expect(idAt(type(state, 'home').state)).toBe('asks')
    expect(idAt(type(stateOf(everyKind), 'end').state)).toBe('idle')
    expect(idAt(type(stateOf(everyKind), 'k').state)).toBe('asks')
  })

  test('W1: the cursor stays on its task when others come, go or change', () => {
    const ended = { ...task('works'), running: undefined, state: 'completed' as const, files: 1 }
    const others = everyKind.map((one) => (one.id === 'works' ? ended : one))
    expect(idAt(withTasks(on('works'), [viewOf('new'), ...others]))).toBe('works')
  })

  test('W1: where its task is gone, the cursor is on the one in its place', () => {
    const without = everyKind.filter(({ id }) => id !== 'works')
    expect(idAt(withTasks(on('works'), without))).toBe('ready')
    expect(idAt(withTasks(stateOf(everyKind, { cursor: task('idle').path }), [task('ready')]))).toBe('ready')
    expect(idAt(withTasks(on('works'), []))).toBeUndefined()
    expect(idAt(withTasks(stateOf([]), everyKind))).toBe('asks')
  })
})

describe('W2: no single key changes anything', () => {
  test('W2: no key alone asks for a deed that changes something', () => {
    const changing = ['accept', 'reject', 'stop', 'undo']
    const done = [{ operation: 'o1', verb: 'accept', task: task('ready') }]
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?!/:'.split('')
    const keys = [...letters, 'enter', 'escape', 'ctrl-c']
    for (const { id } of everyKind)
      for (const key of keys) {
        const { deeds } = type({ ...on(id), done }, key)
        expect(deeds.filter((deed) => changing.includes(deed.do))).toEqual([])
      }
  })

  test.each([
    ['r', 'ready', 'reject'],
    ['s', 'works', 'stop'],
  ])('W2: %s on %s asks, y does it, and any other answer does nothing', (key, id, deed) => {
    expect(type(on(id), key).state.panel?.asks?.words).toMatch(/\?$/)
    expect(type(on(id), key, 'y').deeds).toEqual([{ do: deed, task: task(id) }])
    for (const no of ['n', 'q', 'escape', 'enter', 'Y', 'x']) expect(type(on(id), key, no).deeds).toEqual([])
    for (const no of ['n', 'q', 'escape', 'enter']) expect(type(on(id), key, no).state.panel).toBeUndefined()
  })

  test('W2: a y that was typed together with the key before it answers nothing', () => {
    const moment = { at: 5000, page: 10 }
    const asking = pressed(on('ready'), 'r', moment).state
    expect(pressed(asking, 'y', moment).deed).toBeUndefined()
    expect(pressed(asking, 'y', { ...moment, at: 5000 + settleMs }).deed).toMatchObject({ do: 'reject' })
  })

  test('W2: the deed is about the task that was asked about, wherever the cursor is by then', () => {
    const { state } = type(on('ready'), 'r')
    const later = withTasks(state, [task('idle')])
    expect(pressed(later, 'y', { at: 9000, page: 10 }).deed).toEqual({ do: 'reject', task: task('ready') })
  })

  test('W2: keys that are pressed while something is being done are dropped, but for those that leave', () => {
    const busy = { ...on('ready'), busy: 'accept ready' }
    expect(type(busy, 'r', 'y', 'a', 'd', 'u').deeds).toEqual([])
    expect(type(busy, 'r', 'y', 'a', 'd', 'u').state).toEqual(busy)
    expect(type(busy, 'q').state.isLeaving).toBe(true)
    expect(type(busy, 'ctrl-c').deeds).toEqual([{ do: 'cancel' }])
  })

  test('W2: u asks about the last operation that was done here, and about none where there is none', () => {
    const done = [
      { operation: 'o1', verb: 'accept', task: task('ready') },
      { operation: 'o2', verb: 'reject', task: task('idle') },
    ]
    expect(type({ ...on('ready'), done }, 'u', 'y').deeds).toEqual([{ do: 'undo', done: done[1] }])
    expect(type({ ...on('ready'), done }, 'u').state.panel?.lines.join('')).toContain('reject of idle')
    expect(type(on('ready'), 'u').state.notice?.join('')).toContain('Nothing was done here yet')
    expect(type({ ...stateOf([]), done }, 'u', 'y').deeds).toHaveLength(1)
  })
})

describe('W1: keys', () => {
  test.each([
    ['enter', 'diff'],
    ['d', 'diff'],
    ['a', 'preview'],
    ['t', 'attach'],
    ['o', 'open'],
  ] as const)('W1: %s is for %s, of the task under the cursor', (key, deed) => {
    expect(type(on('ready'), key).deeds).toEqual([{ do: deed, task: task('ready') }])
    expect(type(stateOf([]), key).deeds).toEqual([])
  })

  test('W1: y and n open the question of the task, and say so where there is none', () => {
    for (const key of ['y', 'n']) {
      expect(type(on('asks'), key).deeds).toEqual([{ do: 'answer', task: task('asks') }])
      expect(type(on('ready'), key)).toMatchObject({ deeds: [], state: { notice: ['ready asks nothing.'] } })
    }
    expect(type(on('ready'), 's').state.notice).toEqual(['Nothing runs in ready'])
  })

  test('W1: q and Ctrl-C leave, also from a panel; a notice goes with the next key', () => {
    expect(type(on('ready'), 'q').deeds).toEqual([{ do: 'leave' }])
    expect(type(on('ready'), 'ctrl-c').deeds).toEqual([{ do: 'leave' }])
    expect(type(on('ready'), 'r', 'ctrl-c').deeds).toEqual([{ do: 'leave' }])
    expect(type({ ...on('ready'), notice: ['x'] }, 'j').state.notice).toBeUndefined()
  })

  test('W1: help is shown until a key, and a long panel scrolls to its ends', () => {
    const helped = type(on('ready'), '?')
    expect(helped.state.panel?.lines.join('\n')).toContain('accept')
    expect(type(helped.state, 'x').state.panel).toBeUndefined()
    const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`)
    const long = { ...on('ready'), panel: { lines, from: 0 } }
    const from = (...keys: string[]) => type(long, ...keys).state.panel?.from
    expect([from('j'), from('down', 'up', 'up'), from('page-down'), from('end'), from('end', 'k')]).toEqual([
      1, 0, 10, 20, 19,
    ])
  })
})
