import { expect, test } from 'vitest'
import { parseMerge } from './merge.ts'

const tree = 'a'.repeat(40)
const entry = (stage: number, path: string) => `100644 ${'b'.repeat(40)} ${stage}\t${path}`
const output = (...fields: string[]) => Buffer.from(fields.map((field) => `${field}\0`).join(''))

test('a clean merge is its tree', () => {
  expect(parseMerge(output(tree))).toEqual({ tree, conflicts: [] })
})

test('A3: conflicts are named by path and kind', () => {
  const merged = parseMerge(
    output(
      tree,
      ...[1, 2, 3].map((stage) => entry(stage, 'edited')),
      entry(1, 'gone'),
      entry(3, 'gone'),
      entry(2, 'both\nadded'),
      entry(3, 'both\nadded'),
      '',
      '1',
      'edited',
      'Auto-merging',
      'Auto-merging edited\n',
      '1',
      'edited',
      'CONFLICT (contents)',
      'CONFLICT (content): …\n',
      '1',
      'gone',
      'CONFLICT (modify/delete)',
      '…\n',
      '1',
      'both\nadded',
      'CONFLICT (contents)',
      '…\n',
    ),
  )
  expect(merged).toEqual({
    tree,
    conflicts: [
      { path: 'edited', kind: 'content' },
      { path: 'gone', kind: 'delete/modify' },
      { path: 'both\nadded', kind: 'add/add' },
    ],
  })
})
