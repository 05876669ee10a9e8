import { expect, test } from 'vitest'
import { undoneOf } from '../operations/known.ts'

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
