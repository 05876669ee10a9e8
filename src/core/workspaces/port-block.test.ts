import { expect, test } from 'vitest'
import type { PortBlock } from '../model/task.ts'
import { chosenBlock } from './port-block.ts'

const wanted = { base: 20_000, size: 10 }

test('H5: one seed always has the same block, whole and within the bounds', () => {
  const block = chosenBlock(wanted, 'repo task', [])
  expect(chosenBlock(wanted, 'repo task', [])).toEqual(block)
  for (let n = 0; n < 500; n++) {
    const { first, count } = chosenBlock(wanted, `repo task-${n}`, [])!
    expect([first >= 20_000, first + count <= 32_768, (first - 20_000) % 10, count]).toEqual([
      true,
      true,
      0,
      10,
    ])
  }
})

test('H5: a block that another has in part is passed over, whatever its size', () => {
  const { first } = chosenBlock(wanted, 'seed', [])!
  for (const taken of [
    { first, count: 10 },
    { first: first - 3, count: 4 },
    { first: first + 9, count: 1 },
  ])
    expect(chosenBlock(wanted, 'seed', [taken])?.first).not.toBe(first)
  for (const beside of [
    { first: first - 3, count: 3 },
    { first: first + 10, count: 1 },
  ])
    expect(chosenBlock(wanted, 'seed', [beside])?.first).toBe(first)
})

test('H5: every block is given once, then there is none', () => {
  const few = { base: 32_700, size: 20 }
  const taken: PortBlock[] = []
  for (let block = chosenBlock(few, 'seed', []); block; block = chosenBlock(few, 'seed', taken))
    taken.push(block)
  expect(taken.map(({ first }) => first).toSorted((a, b) => a - b)).toEqual([32_700, 32_720, 32_740])
  expect(chosenBlock({ base: 65_530, size: 10 }, 'seed', [])).toBeUndefined()
})
