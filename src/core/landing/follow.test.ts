import { fc } from '../../../test/support/random.ts'
import { describe, expect, test } from 'vitest'
import { isSame } from '../model/leaf.ts'
import type { Found, Leaf, LeafChange, Tracked } from '../model/tree.ts'
import { type FollowGathered, followPlan } from './follow.ts'

const leaf = (oid: string, mode: Leaf['mode'] = '100644'): Leaf => ({ mode, oid })
const pointer = (oid: string) => leaf(oid, '160000')

interface One extends LeafChange {
  readonly found: Found | undefined
  /** What lies there, as git would store it. */
  readonly stored?: Leaf | undefined
  readonly entry?: Tracked | undefined
}

/** A branch that changes one file of a checkout. */
function one({ from, to, found, stored, entry }: One, tracked: [string, Tracked][] = []): FollowGathered {
  return {
    changes: new Map([['f', { from, to }]]),
    found: new Map(found && [['f', found]]),
    stored: new Map(stored && [['f', stored]]),
    tracked: new Map([...(entry ? [['f', entry] as const] : []), ...tracked]),
  }
}

const [old, next] = [leaf('1'), leaf('2')]
/** Lies in the checkout with other bytes than git stores. */
const raw: Found = { kind: 'file', leaf: leaf('raw'), permissions: 0o640 }
const gone: Found = { kind: 'gone' }

describe('A2: a checkout follows its branch', () => {
  test('file and index go together; the file is told as it lies there', () => {
    expect(followPlan(one({ from: old, to: next, found: raw, stored: old, entry: old }))).toEqual({
      conflicts: [],
      index: [{ path: 'f', from: old, to: next }],
      files: [{ path: 'f', from: { ...leaf('raw'), permissions: 0o640 }, to: next }],
    })
  })

  test('a file that the user has changed, staged or deleted is a conflict, and nothing of it moves', () => {
    const conflicts = [{ path: 'f', kind: 'changed' }]
    const change = { from: old, to: next }
    for (const given of [
      { ...change, found: raw, stored: leaf('mine'), entry: old },
      { ...change, found: raw, stored: old, entry: leaf('mine') },
      { ...change, found: gone, entry: old },
      { ...change, found: raw, stored: old },
    ])
      expect(followPlan(one(given))).toEqual({ conflicts, index: [], files: [] })
  })

  test('a file of the user in the place of a new one is untracked, or changed where it is staged', () => {
    const added = { from: null, to: next, found: raw, stored: leaf('mine') }
    expect(followPlan(one(added)).conflicts).toEqual([{ path: 'f', kind: 'untracked' }])
    const staged = followPlan(one({ ...added, entry: leaf('mine') })).conflicts
    expect(staged).toEqual([{ path: 'f', kind: 'changed' }])
  })

  test('what a sparse checkout leaves out changes in the index alone, and stays left out', () => {
    const entry = { ...old, isLeftOut: true }
    expect(followPlan(one({ from: old, to: next, found: gone, entry }))).toEqual({
      conflicts: [],
      index: [{ path: 'f', from: entry, to: { ...next, isLeftOut: true } }],
      files: [],
    })
  })

  test('of a submodule the pointer moves in the index; a file in its place is written', () => {
    const module = { from: pointer('1'), found: { kind: 'folder' } as const, entry: pointer('1') }
    expect(followPlan(one({ ...module, to: pointer('2') }))).toMatchObject({ conflicts: [], files: [] })
    expect(followPlan(one({ ...module, to: null }))).toMatchObject({ conflicts: [], files: [] })
    expect(followPlan(one({ ...module, to: next })).files).toEqual([{ path: 'f', from: null, to: next }])
  })

  test('an entry that is staged below a new file, or above it, is in the way', () => {
    const added = { from: null, to: next, found: gone }
    const below = followPlan(one(added, [['f/staged', leaf('mine')]]))
    expect(below.conflicts).toEqual([{ path: 'f/staged', kind: 'changed' }])
    const gathered = { ...one(added), changes: new Map([['d/f', { from: null, to: next }]]) }
    const above = followPlan({ ...gathered, tracked: new Map([['d', leaf('mine')]]) })
    expect(above.conflicts).toEqual([{ path: 'd', kind: 'changed' }])
  })
})

const someLeaf = fc.record({
  mode: fc.constantFrom<Leaf['mode']>('100644', '100755', '160000'),
  oid: fc.constantFrom('1', '2'),
})
const anything = fc.record({
  from: fc.option(someLeaf),
  to: fc.option(someLeaf),
  found: fc.constantFrom<Found>(raw, gone, { kind: 'folder' }, { kind: 'special' }),
  stored: fc.option(someLeaf, { nil: undefined }),
  entry: fc.option(fc.record({ mode: fc.constant('100644' as const), oid: fc.constantFrom('1', '2') }), {
    nil: undefined,
  }),
})

test('A2, A3: whatever was found, a file moves with its entry or not at all, and only over what the branch had', () => {
  const seen = { moved: 0, stopped: 0 }
  fc.assert(
    fc.property(anything, (given) => {
      const { conflicts, index, files } = followPlan(one(given))
      expect(conflicts.length + index.length).toBe(1)
      if (files.length > 0) expect(index.map(({ path }) => path)).toEqual(files.map(({ path }) => path))
      for (const { from } of index) expect(isSame(from, given.from)).toBe(true)
      seen[conflicts.length > 0 ? 'stopped' : 'moved']++
    }),
    { seed: 27, numRuns: 2_000 },
  )
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20)
})
