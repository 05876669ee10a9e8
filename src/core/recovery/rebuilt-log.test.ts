import { expect, test } from 'vitest'
import { reduce } from '../model/events.ts'
import type { Operation } from '../model/operation.ts'
import type { Task } from '../model/task.ts'
import { type KnownTask, rebuiltLog } from './rebuilt-log.ts'

const commit = 'c'.repeat(40)
const at = (minute: number) => `2026-11-16T00:${String(minute).padStart(2, '0')}:00.000Z`

function known(id: string, minute: number, more: Partial<KnownTask> = {}): KnownTask {
  const record = {
    uid: `uid-${id}`,
    repo: 'r',
    id,
    state: 'completed',
    base: { branch: 'main', commit },
    branch: `offshoot/${id}`,
    createdAt: at(minute),
    checkpoints: 9,
    pending: { verb: 'run' },
    reason: 'old',
  } as unknown as Task
  return {
    record,
    steps: [step(0, minute)],
    done: [],
    half: undefined,
    published: undefined,
    isLeft: true,
    ...more,
  }
}

function step(n: number, minute: number, run?: string): KnownTask['steps'][number] {
  const total = { files: n, insertions: n, deletions: 0 }
  return {
    step: { n, commit: `s${n}`, tree: '', tool: 'Edit', summary: '', at: at(minute), run, skipped: [] },
    files: [],
    total,
  }
}

function done(id: string, minute: number, patch: object, undoes?: string): KnownTask['done'][number] {
  const refs = [{ ref: 'refs/heads/main', old: 'c0', new: `of ${id}` }]
  const operation = {
    id,
    verb: undoes ? 'undo' : 'reject',
    at: at(minute),
    undoes,
    refs,
  } as unknown as Operation
  return { operation, note: { at: at(minute), patch, left: [] } }
}

const free = () => true
const now = at(59)

function replayed(
  log: readonly { uid: string; event: Parameters<typeof reduce>[1]; at: string }[],
  uid: string,
) {
  return log
    .filter((entry) => entry.uid === uid)
    .reduce<Task | undefined>((task, { event, at: when }) => reduce(task, event, when), undefined)
}

test('R7: a task comes back with its steps and without what step 0 caught it in', () => {
  const { log, tasks } = rebuiltLog(
    [known('A', 1, { steps: [step(0, 1), step(1, 2, 'r1'), step(2, 3, 'r1')], published: 'p2' })],
    free,
    now,
  )
  expect(tasks).toHaveLength(1)
  expect(replayed(log, 'uid-A')).toMatchObject({
    state: 'active',
    checkpoints: 2,
    files: 2,
    runs: 1,
    head: 'p2',
    lastActiveAt: at(3),
  })
  expect(replayed(log, 'uid-A')).not.toHaveProperty('pending')
  expect(replayed(log, 'uid-A')).not.toHaveProperty('reason')
})

test('R7: operations of several tasks come back in the order of time, also when a clock went back in one of them', () => {
  const first = known('A', 1, {
    done: [done('a1', 10, { state: 'rejected' }), done('a2', 5, { state: 'active' }, 'a1')],
  })
  const second = known('B', 2, { done: [done('b1', 7, { state: 'rejected' })] })
  const { log } = rebuiltLog([first, second], free, now)
  const order = log.flatMap(({ event }) =>
    event.type === 'operation.done' ? [[event.id, event.commit]] : [],
  )
  expect(order).toEqual(['b1', 'a1', 'a2'].map((id) => [id, `of ${id}`]))
  expect(replayed(log, 'uid-A')?.state).toBe('active')
  expect(replayed(log, 'uid-B')?.state).toBe('rejected')
})

test('R7: an operation that was under way is so again, for recovery to settle', () => {
  const operation = { id: 'o', verb: 'accept', at: at(4) } as unknown as Operation
  for (const staged of [true, false]) {
    const { log } = rebuiltLog([known('A', 1, { half: { operation, staged } })], free, now)
    expect(replayed(log, 'uid-A')?.pending).toMatchObject({ verb: 'operation', operation: 'o', staged })
  }
})

test('R7: of a start of which nothing is left but step 0, only the memory comes back', () => {
  const { log } = rebuiltLog([known('A', 1, { isLeft: false })], free, now)
  expect(replayed(log, 'uid-A')).toMatchObject({ state: 'failed', hidden: true })
  const worked = known('B', 1, { isLeft: false, steps: [step(0, 1), step(1, 2)] })
  expect(replayed(rebuiltLog([worked], free, now).log, 'uid-B')).toMatchObject({ state: 'active' })
})

test('R7: of two open tasks of one id the newer one comes back, and neither where that id is taken', () => {
  const older = { ...known('a', 1), record: { ...known('A', 1).record, uid: 'older' } }
  const { tasks, taken } = rebuiltLog([older, known('A', 2)], free, now)
  expect([tasks.map(({ uid }) => uid), taken.map(({ uid }) => uid)]).toEqual([['uid-A'], ['older']])
  expect(rebuiltLog([known('A', 1)], () => false, now)).toMatchObject({
    log: [],
    tasks: [],
    taken: [{ id: 'A' }],
  })
  const closed = known('A', 1, { done: [done('x', 2, { state: 'rejected' })] })
  expect(rebuiltLog([closed], () => false, now).taken).toEqual([])
})

test('H5: of two that have the same ports on record, the newer one keeps them', () => {
  const portBlock = { first: 20_000, count: 10 }
  const withBlock = (one: KnownTask): KnownTask => ({ ...one, record: { ...one.record, portBlock } })
  const logOf = (blocks: (typeof portBlock)[]) => {
    const { log } = rebuiltLog([withBlock(known('old', 1)), withBlock(known('new', 2))], free, now, blocks)
    return log.flatMap(({ event }) => (event.type === 'start.begun' ? [event.task.portBlock] : []))
  }
  expect(logOf([])).toEqual([undefined, portBlock])
  expect(logOf([{ first: 20_009, count: 1 }])).toEqual([undefined, undefined])
})
