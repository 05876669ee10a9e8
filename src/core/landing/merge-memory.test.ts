import { expect, test } from 'vitest'
import type { MergeInput } from '../model/tree.ts'
import { mergeMemory, type RememberedMerge } from './merge-memory.ts'

const input: MergeInput = { base: 'b', ours: 'o', theirs: 't', labels: ['yours', 'T1'] }
const leaf = { mode: '100644', oid: '1' } as const
const merge: RememberedMerge = {
  tree: 'm',
  conflicts: [{ path: 'ä', kind: 'content', lines: [{ from: 1, to: 2 }] }],
  changes: new Map([['\u00c3\u00a4', { from: null, to: leaf }]]),
  made: ['1'],
}

test('F5: a merge is found again by its trees and rules, whatever its labels', () => {
  const memory = mergeMemory(undefined)
  memory.keep(input, merge)
  const again = mergeMemory(memory.text())
  expect(again.find({ ...input, labels: ['a', 'b'] })).toEqual(merge)
  expect(again.find({ ...input, attributes: new Map() })).toEqual(merge)
  expect(again.find({ ...input, attributes: new Map([['a', 'union']]) })).toBeUndefined()
  expect(again.find({ ...input, ours: 't', theirs: 'o' })).toBeUndefined()
  expect(again.text(), 'nothing new').toBeUndefined()
})

test.each(['', '{', '[]', '{"version":0,"merges":[]}', '{"version":1,"merges":3}'])(
  'F5: a file that reads %j counts as lost',
  (text) => {
    expect(mergeMemory(text).find(input)).toBeUndefined()
  },
)

test('F5: the merges that were used last are kept, and none of very many files', () => {
  const memory = mergeMemory(undefined)
  for (let n = 0; n < 4_001; n++) memory.keep({ ...input, base: `b${n}` }, merge)
  memory.find({ ...input, base: 'b0' })
  const files = Array.from({ length: 501 }, (_, n) => [`f${n}`, { from: null, to: leaf }] as const)
  memory.keep({ ...input, base: 'large' }, { ...merge, changes: new Map(files) })
  const again = mergeMemory(memory.text())
  expect(again.find({ ...input, base: 'b0' })).toEqual(merge)
  expect(again.find({ ...input, base: 'b1' })).toBeUndefined()
  expect(again.find({ ...input, base: 'b2' })).toEqual(merge)
  expect(again.find({ ...input, base: 'large' })).toBeUndefined()
})
