import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import { agingMs, inOrder, nextRuns, type QueueFacts, type Turn, type Waiting } from './next-runs.ts'

const now = Date.parse('2026-11-18T12:00:00.000Z')
const free = { global: 0, concurrent: 100, perAgent: 0 }
let count = 0

function run(repo: string, more: Partial<Waiting> = {}): Waiting {
  const entry = `e${String(++count).padStart(4, '0')}`
  const at = new Date(now - 1000 + count).toISOString()
  return { entry, task: entry, repo, agent: 'claude', priority: 0, at, limits: free, ...more }
}

const factsOf = (waiting: Waiting[], more: Partial<QueueFacts> = {}): QueueFacts => ({
  waiting,
  atWork: [],
  busy: new Set(),
  served: new Map(),
  now,
  ...more,
})

const working = (repo: string, agent = 'claude'): Turn => ({ task: `at work ${++count}`, repo, agent })
const reposOf = (runs: readonly Waiting[]) => runs.map(({ repo }) => repo).join('')

describe('D14: which queued run starts next', () => {
  test('D14: the higher priority first, then who came first', () => {
    const [early, late, urgent] = [run('a'), run('a'), run('a', { priority: 5 })]
    expect(nextRuns(factsOf([late, urgent, early]))).toEqual([urgent, early, late])
  })

  test('D14: two repositories take turns, however many runs one of them has queued before the other', () => {
    const many = Array.from({ length: 4 }, () => run('a'))
    expect(reposOf(nextRuns(factsOf([...many, run('b'), run('b')])))).toBe('ababaa')
    const limits = { ...free, global: 1 }
    const one = nextRuns(
      factsOf([run('a', { limits }), run('b', { limits })], { served: new Map([['a', now]]) }),
    )
    expect(reposOf(one)).toBe('b')
    // Served longer ago, and still with more at work.
    const served = new Map([['b', now - 1]])
    const busier = { served, atWork: [working('a'), working('a')] }
    expect(reposOf(nextRuns(factsOf([run('a'), run('b')], busier)))).toBe('ba')
  })

  test('D14: a full repository or agent lets the others pass; a full machine lets nobody', () => {
    const limits = { global: 3, concurrent: 1, perAgent: 0 }
    const [a, b] = [run('a', { limits, priority: 9 }), run('b', { limits })]
    expect(nextRuns(factsOf([a, b], { atWork: [working('a')] }))).toEqual([b])
    const few = { ...free, perAgent: 1 }
    const [claude, codex] = [run('a', { limits: few }), run('a', { limits: few, agent: 'codex' })]
    expect(nextRuns(factsOf([claude, codex], { atWork: [working('z')] }))).toEqual([codex])
    expect(nextRuns(factsOf([b], { atWork: ['x', 'y', 'z'].map((repo) => working(repo)) }))).toEqual([])
  })

  test('D14: a follow-up waits for the agent of its task, and two of them for each other', () => {
    const [first, second] = [run('a', { task: 'T' }), run('a', { task: 'T' })]
    expect(nextRuns(factsOf([first, second], { busy: new Set(['T']) }))).toEqual([])
    expect(nextRuns(factsOf([second, first]))).toEqual([first])
  })

  test('D14: who waits long enough comes before a higher priority', () => {
    const old = run('a', { at: new Date(now - 6 * agingMs).toISOString() })
    expect(inOrder(factsOf([run('a', { priority: 5 }), old]))[0]).toBe(old)
    expect(inOrder(factsOf([run('a', { priority: 7 }), old]))[0]).not.toBe(old)
  })
})

const repoNames = fc.constantFrom('a', 'b', 'c')
const waitingRuns = fc.array(
  fc.record({
    repo: repoNames,
    agent: fc.constantFrom('claude', 'codex'),
    task: fc.constantFrom('T1', 'T2', 'T3', 'T4', 'T5', 'T6'),
    priority: fc.integer({ min: -3, max: 3 }),
  }),
  { maxLength: 12 },
)
const limitsOf = fc.record({
  global: fc.integer({ min: 0, max: 5 }),
  concurrent: fc.integer({ min: 1, max: 4 }),
  perAgent: fc.integer({ min: 0, max: 4 }),
})
const turns = fc.array(fc.record({ repo: repoNames, agent: fc.constantFrom('claude', 'codex') }), {
  maxLength: 5,
})

test('D14: no limit is ever exceeded by what starts, and nothing waits that could start', () => {
  fc.assert(
    fc.property(waitingRuns, limitsOf, turns, (asked, limits, present) => {
      const waiting = asked.map((one) => run(one.repo, { ...one, task: one.repo + one.task, limits }))
      const atWork = present.map(({ repo, agent }) => working(repo, agent))
      const chosen = nextRuns(factsOf(waiting, { atWork }))
      const after = [...atWork, ...chosen]
      const most = (key: 'repo' | 'agent') =>
        Math.max(
          0,
          ...[...Map.groupBy(chosen, (one) => one[key]).keys()].map(
            (name) => after.filter((one) => one[key] === name).length,
          ),
        )
      if (chosen.length > 0 && limits.global > 0) expect(after.length).toBeLessThanOrEqual(limits.global)
      expect(most('repo')).toBeLessThanOrEqual(limits.concurrent)
      if (limits.perAgent > 0) expect(most('agent')).toBeLessThanOrEqual(limits.perAgent)
      expect(new Set(chosen.map(({ task }) => task)).size).toBe(chosen.length)
      const busy = new Set(chosen.map(({ task }) => task))
      const left = waiting.filter((one) => !chosen.includes(one))
      expect(nextRuns(factsOf(left, { atWork: after, busy }))).toEqual([])
    }),
  )
})

test('D14: no repository gets a turn while another one waits that has fewer at work, or as many and was served before it', () => {
  fc.assert(
    fc.property(
      fc.array(repoNames, { minLength: 2, maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      // Which of those at work ends next.
      fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
      (order, global, ends) => {
        const limits = { ...free, global }
        let waiting = order.map((repo) => run(repo, { limits }))
        let atWork: Waiting[] = []
        const served = new Map<string, number>()
        const workingIn = (repo: string) => atWork.filter((one) => one.repo === repo).length
        const servedAt = (repo: string) => served.get(repo) ?? 0
        for (let at = now; waiting.length > 0; at += 1000) {
          for (const [n, one] of nextRuns(factsOf(waiting, { atWork, served, now: at })).entries()) {
            for (const { repo } of waiting) {
              expect(workingIn(one.repo)).toBeLessThanOrEqual(workingIn(repo))
              if (workingIn(one.repo) === workingIn(repo))
                expect(servedAt(one.repo)).toBeLessThanOrEqual(servedAt(repo))
            }
            served.set(one.repo, at + n + 1)
            waiting = waiting.filter((other) => other !== one)
            atWork = [...atWork, one]
          }
          const ending = (ends[order.length - waiting.length] ?? 0) % atWork.length
          atWork = atWork.filter((_, n) => n !== ending)
        }
      },
    ),
  )
})
