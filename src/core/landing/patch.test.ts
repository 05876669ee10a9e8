import { fc } from '../../../test/support/random.ts'
import { describe, expect, test } from 'vitest'
import type { Conflict, Found, Leaf, LeafChange } from '../model/tree.ts'
import type { Surroundings } from './obstacles.ts'
import { type PatchGathered, patchPlan } from './patch.ts'

const leaf = (oid: string, mode: Leaf['mode'] = '100644'): Leaf => ({ mode, oid })
const file = (oid: string, permissions = 0o644): Found => ({ kind: 'file', leaf: leaf(oid), permissions })
const gone: Found = { kind: 'gone' }

/** A patch that changes a, adds b and deletes c, in a checkout that the user has not touched. */
const planned = new Map<string, LeafChange>([
  ['a', { from: leaf('a1'), to: leaf('a2') }],
  ['b', { from: null, to: leaf('b2') }],
  ['c', { from: leaf('c1'), to: null }],
])

const quiet: Surroundings = {
  found: new Map([
    ['a', file('a1', 0o600)],
    ['b', gone],
    ['c', file('c1')],
  ]),
  links: new Set(),
  below: new Map(),
  repositories: [],
  names: new Map([['', ['a', 'c']]]),
}

const gathered = (more: Partial<PatchGathered> = {}, around: Partial<Surroundings> = {}): PatchGathered => ({
  planned,
  blocked: new Map(),
  around: { ...quiet, ...around },
  leftOut: new Set(),
  conflicts: [],
  tracked: new Set(['a', 'c']),
  markable: new Set(),
  ...more,
})

describe('A1: what a patch writes', () => {
  test('where the user has touched nothing, all of it; what was there comes with its permissions', () => {
    expect(patchPlan(gathered())).toEqual({
      moves: [
        { path: 'a', from: { ...leaf('a1'), permissions: 0o600 }, to: leaf('a2') },
        { path: 'b', from: null, to: leaf('b2') },
        { path: 'c', from: { ...leaf('c1'), permissions: 0o644 }, to: null },
      ],
      conflicts: [],
      marked: [],
    })
  })

  test('a file that a sparse checkout leaves out is written as a new one, and cannot be deleted', () => {
    const plan = patchPlan(gathered({ leftOut: new Set(['a', 'c']) }))
    expect(plan.moves.map(({ from }) => from)).toEqual([null, null, null])
    expect(plan.conflicts).toEqual([{ path: 'c', kind: 'delete/modify' }])
  })

  const both: Conflict[] = [
    { path: 'a', kind: 'content' },
    { path: 'c', kind: 'delete/modify' },
  ]

  test('without markers every conflict of the merge stops it', () => {
    expect(patchPlan(gathered({ conflicts: both }))).toMatchObject({ conflicts: both, marked: [] })
  })

  test('with markers those that show both sides are written, and the others still stop it', () => {
    const plan = patchPlan(gathered({ conflicts: both, markable: new Set(['a', 'c']) }))
    expect(plan).toMatchObject({ conflicts: [both[1]], marked: [both[0]] })
  })

  test('two new files of one name are a conflict of both where git knows the user’s, else that one is in the way', () => {
    const conflicts: Conflict[] = [{ path: 'b', kind: 'add/add' }]
    expect(patchPlan(gathered({ conflicts, tracked: new Set(['b']) })).conflicts).toEqual(conflicts)
    const markable = new Set(['b'])
    expect(patchPlan(gathered({ conflicts, markable }))).toMatchObject({
      conflicts: [{ path: 'b', kind: 'untracked' }],
      marked: [],
    })
  })
})

describe('A3: what is in the way of a patch', () => {
  const stopped = (around: Partial<Surroundings>, more: Partial<PatchGathered> = {}) =>
    patchPlan(gathered(more, around)).conflicts
  const found = (path: string, there: Found) => new Map([...quiet.found, [path, there]])

  test('a special file', () => {
    expect(stopped({ found: found('a', { kind: 'special' }) })).toEqual([{ path: 'a', kind: 'untracked' }])
  })

  test('a link or a file above it, unless that goes with the same patch', () => {
    const inside = new Map<string, LeafChange>([...planned, ['c/d', { from: null, to: leaf('d2') }]])
    const above = (blockedBy: string) => found('c/d', { kind: 'gone', blockedBy })
    expect(stopped({ found: above('c') }, { planned: inside })).toEqual([])
    const other = new Map<string, LeafChange>([['x/d', { from: null, to: leaf('d2') }]])
    const blocked = { found: new Map([['x/d', { kind: 'gone', blockedBy: 'x' } as Found]]) }
    expect(stopped(blocked, { planned: other })).toEqual([{ path: 'x', kind: 'untracked' }])
    expect(stopped({ ...blocked, links: new Set(['x']) }, { planned: other })).toEqual([
      { path: 'x', kind: 'symlink' },
    ])
  })

  test('every file of a folder in its place, but for those that go', () => {
    const inside = new Map<string, LeafChange>([...planned, ['b/went', { from: leaf('w'), to: null }]])
    const below = new Map([['b', ['b/went', 'b/kept']]])
    expect(stopped({ found: found('b', { kind: 'folder' }), below }, { planned: inside })).toEqual([
      { path: 'b/kept', kind: 'untracked' },
    ])
  })

  test('a link in the place of the folder that a deleted file was in, but no file there', () => {
    const blocked = new Map<string, LeafChange>([['d/x', { from: leaf('x1'), to: null }]])
    const found = new Map<string, Found>([...quiet.found, ['d/x', { kind: 'gone', blockedBy: 'd' }]])
    expect(stopped({ found, links: new Set(['d']) }, { blocked })).toEqual([{ path: 'd', kind: 'symlink' }])
    expect(stopped({ found }, { blocked })).toEqual([])
  })

  test('a repository above it', () => {
    expect(stopped({ repositories: ['lib'] })).toEqual([{ path: 'lib', kind: 'untracked' }])
  })

  test('a name that differs only in case, unless that one goes', () => {
    expect(stopped({ names: new Map([['', ['B']]]) })).toEqual([{ path: 'b', kind: 'case' }])
    const renamed = new Map<string, LeafChange>([...planned, ['B', { from: leaf('b1'), to: null }]])
    expect(stopped({ names: new Map([['', ['B']]]) }, { planned: renamed })).toEqual([])
  })
})

const names = ['a', 'b', 'c', 'd/e', 'd/f', 'g']
const someLeaf = fc.record({
  mode: fc.constantFrom<Leaf['mode']>('100644', '100755', '120000'),
  oid: fc.constantFrom('1', '2', '3'),
})
const someChange = fc
  .record({ from: fc.option(someLeaf), to: fc.option(someLeaf) })
  .filter(({ from, to }) => from !== null || to !== null)
const someFound = fc.oneof(
  fc.record({ kind: fc.constant('file' as const), leaf: someLeaf, permissions: fc.constant(0o600) }),
  fc.constant(gone),
  fc.record({ kind: fc.constant('gone' as const), blockedBy: fc.constantFrom('d', 'x') }),
  fc.constant<Found>({ kind: 'folder' }),
  fc.constant<Found>({ kind: 'special' }),
)
const some = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 }).map((all) => new Map(all))
const someNames = fc.subarray(names).map((all) => new Set(all))
const someConflict = fc.record({
  path: fc.constantFrom(...names),
  kind: fc.constantFrom<Conflict['kind']>('content', 'add/add', 'delete/modify', 'rename'),
})
const anything: fc.Arbitrary<PatchGathered> = fc.record({
  planned: some(someChange),
  blocked: fc.constant(new Map()),
  around: fc.record({
    found: some(someFound),
    links: fc.subarray(['d', 'x']).map((all) => new Set(all)),
    below: some(fc.subarray(['b/1', 'b/2'])),
    repositories: fc.subarray(['d']),
    names: fc.constant(new Map([['', ['A', 'b']]])),
  }),
  leftOut: someNames,
  conflicts: fc.uniqueArray(someConflict, { selector: ({ path }) => path, maxLength: 4 }),
  tracked: someNames,
  markable: someNames,
})

test('A1, A3: whatever was found, each planned file moves once, and no conflict is lost or told twice', () => {
  const seen = { clean: 0, marked: 0, stopped: 0 }
  fc.assert(
    fc.property(anything, (given) => {
      const { moves, conflicts, marked } = patchPlan(given)
      expect(moves.map(({ path, to }) => [path, to])).toEqual(
        Array.from(given.planned, ([path, { to }]) => [path, to]),
      )
      for (const { path, from } of moves)
        if (given.leftOut.has(path)) expect(from).toBeNull()
        else expect(from).toEqual(from && { ...given.planned.get(path)?.from, permissions: from.permissions })
      for (const { path } of given.conflicts) {
        const isMarked = marked.some((conflict) => conflict.path === path)
        const isKept = conflicts.some((conflict) => conflict.path === path)
        expect(isMarked || isKept).toBe(true)
        if (isMarked) expect(given.markable.has(path)).toBe(true)
      }
      expect(marked.every(({ kind }) => kind === 'content' || kind === 'add/add')).toBe(true)
      for (const [path] of given.planned)
        if (given.around.found.get(path)?.kind === 'special')
          expect(conflicts.map((conflict) => conflict.path)).toContain(path)
      seen[conflicts.length > 0 ? 'stopped' : marked.length > 0 ? 'marked' : 'clean']++
    }),
    { seed: 27, numRuns: 2_000 },
  )
  // No side of the property is empty.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20)
})
