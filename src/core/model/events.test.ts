import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import type { TaskState } from './enums.ts'
import { reduce, type TaskEvent } from './events.ts'
import { taskView } from './task-view.ts'
import { isOpen, runsOf, type Task } from './task.ts'

const at = '2026-11-15T18:01:02.000Z'
const owner = { pid: 1, startedAt: '1', boot: 'b' }

const planned: Task = {
  uid: 'u1',
  id: 'T1',
  repo: 'r1',
  title: '',
  state: 'pending',
  isolation: 'worktree',
  path: '/w/T1',
  branch: 'offshoot/T1',
  adopted: false,
  base: { branch: 'main', commit: 'c'.repeat(40) },
  origin: '/app',
  head: 'c'.repeat(40),
  checkpoints: 0,
  files: 0,
  insertions: 0,
  deletions: 0,
  runs: 0,
  createdAt: '2026-11-15T18:00:00.000Z',
  lastActiveAt: '2026-11-15T18:00:00.000Z',
}

const begun: TaskEvent = { type: 'start.begun', task: planned, owner }

/** What closes a task: an operation with a new state. */
const closing = (state: TaskState): TaskEvent[] => [
  { type: 'operation.begun', id: 'o1', verb: 'remove', owner },
  { type: 'operation.staged', id: 'o1' },
  { type: 'operation.done', id: 'o1', patch: { state, closedAt: at, trash: '/w/.trash/T1' }, left: [] },
]

function after(...events: TaskEvent[]): Task | undefined {
  return events.reduce<Task | undefined>((task, event) => reduce(task, event, at), undefined)
}

describe('reduce', () => {
  test('L6: a start is marked before it is made', () => {
    expect(after(begun)).toEqual({ ...planned, pending: { verb: 'start', owner } })
  })

  test.each(['rejected', 'kept', 'accepted'] as const)('L8: pending → active → %s', (state) => {
    const active = after(begun, { type: 'start.done' })
    expect(active).toEqual({ ...planned, state: 'active', lastActiveAt: at })
    const closed = after(begun, { type: 'start.done' }, ...closing(state))
    expect(closed).toEqual({ ...active, state, closedAt: at, trash: '/w/.trash/T1' })
    expect(isOpen(closed!)).toBe(false)
  })

  test('A4: an operation is staged, and unstaged again before what was staged goes', () => {
    const [operation, staged] = closing('accepted')
    const open = after(begun, { type: 'start.done' }, operation!, staged!)
    expect(open?.pending).toMatchObject({ verb: 'operation', operation: 'o1', staged: true })
    expect(reduce(open, { type: 'operation.unstaged', id: 'o1' }, at)?.pending).toMatchObject({
      staged: false,
    })
    expect(after(begun, { type: 'operation.unstaged', id: 'o1' })).toEqual(after(begun))
  })

  test('L6: a start that was taken back is never shown, and says why', () => {
    const task = after(begun, { type: 'start.undone', reason: 'no space' })
    expect(task).toMatchObject({ state: 'failed', hidden: true, reason: 'no space', closedAt: at })
    expect(task).not.toHaveProperty('pending')
    expect(isOpen(task!)).toBe(false)
  })

  test('K4: a task whose step could not be kept has failed until one can; a run that failed stays so', () => {
    const active = after(begun, { type: 'start.done' })
    const unkept: TaskEvent = { type: 'checkpoint.failed', reason: 'no space' }
    const failed = after(begun, { type: 'start.done' }, unkept)
    expect(failed).toMatchObject({ state: 'failed', reason: 'no space' })
    // It is no reason to give the work up: what is there is there.
    expect(failed).not.toHaveProperty('trigger')
    expect(reduce(failed, { type: 'checkpoint.resumed' }, at)).toEqual(active)
    // What could not be swept up is as idle as before.
    const later = '2026-01-09T00:00:00.000Z'
    expect(reduce(active, { ...unkept, tool: 'sweep' }, later)).toMatchObject({ lastActiveAt: at })
    expect(reduce(active, unkept, later)).toMatchObject({ lastActiveAt: later })
    const run = { type: 'run.begun', run: 'r', agent: 'a', owner } as const
    const ended = { type: 'run.ended', run: 'r', ok: false, reason: 'no' } as const
    const lost = after(begun, { type: 'start.done' }, unkept, run, ended)
    expect(reduce(lost, { type: 'checkpoint.resumed' }, at)).toMatchObject({ state: 'failed', reason: 'no' })
  })

  test('G19: the end of a run counts for the task, once, and that of a command does not', () => {
    const run = (name: string, exec?: number): TaskEvent => ({
      type: 'run.begun',
      run: name,
      agent: 'a',
      owner,
      exec,
    })
    const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.1 }
    const ended = (name: string): TaskEvent => ({
      type: 'run.ended',
      run: name,
      ok: true,
      reason: '',
      seconds: 1.5,
      usage,
      totals: { costUsd: 0.1 },
    })
    const said: TaskEvent = { type: 'run.conversation', run: 'r1', agent: 'a', conversation: 'c' }
    const open = [begun, { type: 'start.done' }] as const
    const going = after(...open, run('r1'), said)
    expect(going?.lastRun).toEqual({ run: 'r1', agent: 'a', startedAt: at })
    const one = after(...open, run('r1'), said, ended('r1'), ended('r1'))
    expect(one).toMatchObject({
      lastRun: { run: 'r1', endedAt: at, ok: true, seconds: 1.5, ...usage },
      usage: { seconds: 1.5, ...usage },
      conversation: { id: 'c', used: { costUsd: 0.1 } },
    })
    const two = after(
      ...open,
      run('r1'),
      said,
      ended('r1'),
      run('r2'),
      said,
      ended('r2'),
      run('e', 1),
      ended('e'),
    )
    expect(two).toMatchObject({
      lastRun: { run: 'r2' },
      usage: { seconds: 3, inputTokens: 20, outputTokens: 10, costUsd: 0.2 },
    })
    const other = { ...said, conversation: 'd' }
    expect(reduce(two, other, at)?.conversation).toEqual({ agent: 'a', id: 'd' })
  })

  test('G14: the mark of a run holds several, and each end takes its own away', () => {
    const run = (name: string, exec?: number): TaskEvent => ({
      type: 'run.begun',
      run: name,
      agent: name,
      owner,
      exec,
    })
    const ended = (name: string, ok = true): TaskEvent => ({
      type: 'run.ended',
      run: name,
      ok,
      reason: ok ? '' : 'no',
    })
    const open = [begun, { type: 'start.done' }] as const
    const three = after(...open, run('server', 1), run('agent'), run('tests', 2))
    expect(three).toMatchObject({ state: 'active', agent: 'agent', runs: 3 })
    expect(runsOf(three!).map(({ run: name }) => name)).toEqual(['server', 'agent', 'tests'])
    // Tests that fail beside an agent, and a server that is ended after it, say nothing about the agent's work.
    const two = reduce(three, ended('tests', false), at)
    expect(two).toMatchObject({ state: 'active' })
    const one = reduce(two, ended('agent'), at)
    expect(one).toMatchObject({ state: 'completed' })
    expect(runsOf(one!)).toMatchObject([{ run: 'server', exec: 1 }])
    const none = reduce(one, ended('server', false), at)
    expect(none).toMatchObject({ state: 'completed' })
    expect(none).not.toHaveProperty('pending')
    // Without an agent, the command that ends last does.
    const alone = after(...open, run('server', 1), run('tests', 2), ended('tests'), ended('server', false))
    expect(alone).toMatchObject({ state: 'failed', reason: 'no' })
  })

  test('W1: the record has the last call that was allowed, step that was taken or command that was begun', () => {
    const decided = (tool: string, allow: boolean): TaskEvent => ({
      type: 'run.decided',
      run: 'r',
      tool,
      summary: 'x',
      allow,
      by: 'policy',
      reason: '',
    })
    const step = (n: number, tool: string): TaskEvent => ({
      type: 'checkpoint',
      n,
      commit: 'c',
      tool,
      summary: 'y',
      files: [],
      skipped: [],
      total: { files: 1, insertions: 1, deletions: 0 },
    })
    const command: TaskEvent = { type: 'run.begun', run: 'c', agent: 'npm', owner, exec: 1, name: 'npm test' }
    const agent: TaskEvent = { type: 'run.begun', run: 'r', agent: 'claude', owner }
    const last = (...events: TaskEvent[]) => after(begun, { type: 'start.done' }, ...events)?.lastCall
    expect(last(agent)).toBeUndefined()
    expect(last(agent, decided('Bash', true))).toEqual({ tool: 'Bash', summary: 'x' })
    expect(last(agent, decided('Bash', true), decided('Read', false))).toMatchObject({ tool: 'Bash' })
    expect(last(decided('Bash', true), step(1, 'Edit'))).toEqual({ tool: 'Edit', summary: 'y' })
    // An older step that comes again, and a sweep, which is of no call, change nothing.
    expect(last(step(2, 'Edit'), step(1, 'Write'), step(3, 'sweep'))).toMatchObject({ tool: 'Edit' })
    expect(last(step(1, 'Edit'), command)).toEqual({ tool: 'command', summary: 'npm test' })
  })

  test('W1: a run that is under way says since when', () => {
    const run: TaskEvent = { type: 'run.begun', run: 'r', agent: 'claude', owner }
    const task = after(begun, { type: 'start.done' }, run)!
    expect(taskView(task)).toMatchObject({ running: true, runningSince: at })
    expect(taskView(after(begun, { type: 'start.done' })!)).not.toHaveProperty('runningSince')
  })

  test('G15: a question is open until the first answer to it, or the end of its run', () => {
    const asked = {
      type: 'run.asked',
      run: 'r',
      question: 'q1',
      tool: 'Bash',
      summary: 's',
      reason: 'why',
    } as const
    const kept = { until: at, input: '{}', inputHash: 'h', inputBytes: 2 }
    const run = { type: 'run.begun', run: 'r', agent: 'a', owner } as const
    const open = after(begun, { type: 'start.done' }, run, { ...asked, ...kept })
    expect(open?.asks).toMatchObject({ question: 'q1', run: 'r', inputHash: 'h', at })
    const answer = { type: 'run.answered', run: 'r', said: 'once', by: 'user' } as const
    expect(reduce(open, { ...answer, question: 'q0' }, at)?.asks).toBeDefined()
    expect(reduce(open, { ...answer, question: 'q1' }, at)).not.toHaveProperty('asks')
    expect(reduce(open, { type: 'run.ended', run: 'other', ok: true, reason: '' }, at)?.asks).toBeDefined()
    expect(reduce(open, { type: 'run.ended', run: 'r', ok: true, reason: '' }, at)).not.toHaveProperty('asks')
  })

  test('D14: a queued run leaves the queue by its beginning, by a stop, or with its task; a failure is told', () => {
    const queued = (entry: string, priority = 0): TaskEvent => ({
      type: 'run.queued',
      entry,
      agent: 'claude',
      what: 'Fix it',
      priority,
      metadata: { ticket: 7 },
    })
    const started = [begun, { type: 'start.done' } as const, queued('e1'), queued('e2')]
    const entries = (task: Task | undefined) => task?.queued?.map(({ entry }) => entry)
    const waiting = after(...started)
    expect(waiting).toMatchObject({ metadata: { ticket: 7 }, queued: [{ entry: 'e1', at }, { entry: 'e2' }] })
    expect(after(...started, queued('e1', 5))?.queued).toMatchObject([{ priority: 5 }, { priority: 0 }])
    const run = { type: 'run.begun', run: 'r', agent: 'claude', owner, entry: 'e1' } as const
    expect(entries(after(...started, run))).toEqual(['e2'])
    const off = { type: 'run.unqueued', entry: 'e2', reason: 'Stopped.' } as const
    expect(after(...started, off)).toMatchObject({ state: 'active', queued: [{ entry: 'e1' }] })
    expect(after(...started, run, off)).not.toHaveProperty('queued')
    const failed = { ...off, error: { code: 'WT_018', hint: '' } }
    expect(after(...started, failed)).toMatchObject({ state: 'failed', reason: 'Stopped.' })
    // It had left the queue already.
    expect(after(...started, off, failed)).toMatchObject({ state: 'active' })
    expect(after(...started, ...closing('rejected'))).not.toHaveProperty('queued')
  })

  test('R1: a run that ends after its task was closed does not open it again', () => {
    const closed = after(begun, { type: 'start.done' }, ...closing('rejected'))
    expect(reduce(closed, { type: 'run.ended', run: 'r', ok: false, reason: 'no' }, at)).toEqual(closed)
  })

  test('L7: a recreation that was taken back leaves the task as it was', () => {
    const active = after(begun, { type: 'start.done' })
    const undone: TaskEvent[] = [
      { type: 'recreate.begun', owner },
      { type: 'recreate.undone', reason: 'no space' },
    ]
    expect(after(begun, { type: 'start.done' }, ...undone)).toEqual(active)
  })

  test('A6: an operation that was taken back leaves the task as it was, and an undone one opens it again', () => {
    const active = after(begun, { type: 'start.done' })
    const undone: TaskEvent = { type: 'operation.undone', id: 'o1', reason: 'no space', patch: {} }
    expect(after(begun, { type: 'start.done' }, closing('rejected')[0]!, undone)).toEqual(active)
    const patch = { state: 'active', closedAt: null, trash: null } as const
    const back: TaskEvent = { type: 'operation.done', id: 'o2', patch, left: [] }
    expect(after(begun, { type: 'start.done' }, ...closing('rejected'), back)).toEqual(active)
  })

  const types = (name: string, ...ends: string[]) => ends.map((end) => `${name}.${end}`)
  const known = [
    ...types('start', 'begun', 'done', 'undone'),
    ...types('recreate', 'begun', 'done', 'undone'),
    ...types('operation', 'begun', 'staged', 'done', 'undone'),
    ...types('publish', 'begun', 'done', 'undone'),
    ...types('run', 'begun', 'ended'),
    'checkpoint',
    'checkpoint.failed',
    'checkpoint.resumed',
  ]
  const event = fc.record({
    type: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.string() },
    ),
    task: fc.constantFrom(planned, { ...planned, id: 'other' }),
    owner: fc.constant(owner),
    reason: fc.string(),
    n: fc.nat(3),
    ok: fc.boolean(),
    patch: fc.constantFrom({}, { state: 'rejected' }, { state: 'active', closedAt: null }),
  }) as unknown as fc.Arbitrary<TaskEvent>

  test('L8: any sequence of events makes a task or none, and never throws', () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        let task: Task | undefined
        for (const next of events) {
          const before = structuredClone(task)
          const result = reduce(task, next, at)
          expect(task).toEqual(before)
          const known = task !== undefined || next.type === 'start.begun'
          expect(result?.uid).toBe(known ? 'u1' : undefined)
          task = result
        }
      }),
    )
  })

  test('L8: a start that ends late opens no task again that is closed by then', () => {
    const late: TaskEvent[] = [{ type: 'start.done' }, { type: 'start.undone', reason: 'late' }]
    for (const event of late) {
      const undone = after(begun, { type: 'start.undone', reason: 'first' })
      expect(reduce(undone, event, at)).toEqual(undone)
      const removed = after(begun, { type: 'start.done' }, ...closing('rejected'))
      expect(reduce(removed, event, at)).toEqual(removed)
    }
  })
})
