import { expect, test } from 'vitest'
import { type KnownOperation, undoneOf, undoneTogether } from '../operations/known.ts'

test('P3: undone is what an undo undid, unless that undo was undone itself', () => {
  const accept = { id: 'accept' }
  const undo = { id: 'undo', undoes: 'accept' }
  const redo = { id: 'redo', undoes: 'undo' }
  const again = { id: 'again', undoes: 'redo' }
  expect([...undoneOf([accept])]).toEqual([])
  expect([...undoneOf([accept, undo])]).toEqual(['accept'])
  expect([...undoneOf([accept, undo, redo])]).toEqual(['undo'])
  expect([...undoneOf([accept, undo, redo, again])].sort()).toEqual(['accept', 'redo'])
})

const known = (id: string, more: Partial<KnownOperation> = {}): KnownOperation => ({
  id,
  verb: 'reject',
  task: 'T',
  at: '',
  undone: false,
  expired: false,
  ...more,
})
const ids = (operations: readonly KnownOperation[]) => operations.map(({ id }) => id)

test('P3: what belongs to an operation is undone with it; by its own name, it alone', () => {
  const accept = known('accept', { verb: 'accept' })
  const [one, two] = [known('one', { batch: 'accept' }), known('two', { batch: 'accept' })]
  const later = known('later')
  // Newest first, as they are read.
  const all = [two, one, accept, later]
  expect(ids(undoneTogether(all, two, false))).toEqual(['accept', 'one', 'two'])
  expect(ids(undoneTogether(all, accept, true))).toEqual(['accept', 'one', 'two'])
  expect(ids(undoneTogether(all, two, true))).toEqual(['two'])
  expect(ids(undoneTogether(all, later, false))).toEqual(['later'])
  const half = [two, { ...one, undone: true }, { ...accept, undone: true }]
  expect(ids(undoneTogether(half, two, false))).toEqual(['two'])
  const final = [two, { ...accept, final: 'a pull request was opened' }]
  expect(ids(undoneTogether(final, two, false))).toEqual(['two'])
  // The operations of a prune share a batch that is no operation: each is undone by itself.
  const pruned = [known('b', { batch: 'x' }), known('a', { batch: 'x' })]
  expect(ids(undoneTogether(pruned, pruned[0]!, false))).toEqual(['b'])
})
