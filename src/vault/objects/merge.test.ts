/** The output of `git merge-tree`, parsed, and the losses that git does not report. */
import { expect, test } from 'vitest'
import { parseMerge, silentLosses } from './merge.ts'

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

test('A3: what git put aside is named by where it was, once', () => {
  const merged = parseMerge(
    output(
      tree,
      entry(1, 'file~yours'),
      entry(2, 'file~yours'),
      entry(3, 'link'),
      entry(1, 'link~yours'),
      entry(2, 'link~yours'),
      '',
      ...'2|file~yours|file|CONFLICT (file/directory)|…'.split('|'),
      ...'1|file~yours|CONFLICT (modify/delete)|…'.split('|'),
      ...'2|link|link~yours|CONFLICT (distinct modes)|…'.split('|'),
    ),
  )
  expect(merged.conflicts).toEqual([
    { path: 'file', kind: 'delete/modify' },
    { path: 'link', kind: 'mode' },
  ])
  expect(Object.fromEntries(merged.aside ?? [])).toEqual({ file: 'file~yours', link: 'link~yours' })
})

test('A3: where a renamed file became a link on the other side, two files of one new name are a conflict', () => {
  const [file, other, link] = [
    { mode: '100644', oid: 'a' },
    { mode: '100644', oid: 'b' },
    { mode: '120000', oid: 'c' },
  ] as const
  const renamed = new Map([
    ['old', { from: file, to: null }],
    ['new', { from: null, to: file }],
  ])
  const linked = new Map([
    ['old', { from: file, to: link }],
    ['new', { from: null, to: other }],
  ])
  expect(silentLosses(renamed, linked)).toEqual(['new'])
  expect(silentLosses(linked, renamed)).toEqual(['new'])
  const edited = new Map([
    ['old', { from: file, to: other }],
    ['new', { from: null, to: other }],
  ])
  expect(silentLosses(renamed, edited)).toEqual([])
})
