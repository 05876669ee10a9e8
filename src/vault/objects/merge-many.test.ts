/** The answers of one git for many merges, and which merges can share it. */
import { describe, expect, test } from 'vitest'
import type { MergeInput } from '../../core/model/tree.ts'
import { groupsOf, type Merge, parseAnswers } from './merge-many.ts'

const [one, two] = ['1'.repeat(40), '2'.repeat(40)]
const entry = (stage: number, path: string) => `100644 ${'b'.repeat(40)} ${stage}\t${path}`
const output = (...fields: string[]) => Buffer.from(fields.map((field) => `${field}\0`).join(''))

const clean = (tree: string) => ['1', tree, '']
const conflicting = (tree: string, path: string) => [
  '0',
  tree,
  ...[1, 2, 3].map((stage) => entry(stage, path)),
  '',
  '1',
  path,
  'Auto-merging',
  `Auto-merging ${path}\n`,
  '1',
  path,
  'CONFLICT (contents)',
  'CONFLICT (content): …\n',
  '',
]

describe('F6: parseAnswers', () => {
  const found = (tree: string, path: string) => ({ tree, conflicts: [{ path, kind: 'content' }] })

  test.each<[string, string[], object[]]>([
    ['none', [], []],
    ['one that is clean', clean(one), [{ tree: one, conflicts: [] }]],
    ['one that conflicts', conflicting(one, 'a'), [found(one, 'a')]],
    [
      'several, in their order',
      [...conflicting(one, 'a'), ...clean(two), ...conflicting(two, '1'), ...clean(one)],
      [found(one, 'a'), { tree: two, conflicts: [] }, found(two, '1'), { tree: one, conflicts: [] }],
    ],
  ])('%s', (_, fields, merged) => {
    expect(parseAnswers(output(...fields))).toEqual(merged)
  })

  test('an answer that was cut off is an error, not a clean merge', () => {
    expect(() => parseAnswers(output(...conflicting(one, 'a').slice(0, 6)))).toThrow('no end')
    expect(() => parseAnswers(output('1', one).subarray(0, -1))).toThrow('no end')
  })
})

describe('F6: groupsOf', () => {
  const merge = (touched: string[], rules: Record<string, 'union' | 'binary'> = {}): Merge => ({
    input: { attributes: new Map(Object.entries(rules)) } as unknown as MergeInput,
    touched: new Set(touched),
  })

  test('merges without rules are one group, and so are those whose rules do not concern the others', () => {
    const all = [
      merge(['a']),
      merge(['a', 'b']),
      merge(['c'], { c: 'union' }),
      merge(['c', 'd'], { c: 'union' }),
    ]
    expect(groupsOf(all)).toEqual([all])
    expect(groupsOf([])).toEqual([])
  })

  test('a rule never reaches a merge that touches its file and does not have it', () => {
    const [plain, union, binary] = [merge(['a']), merge(['a'], { a: 'union' }), merge(['a'], { a: 'binary' })]
    expect(groupsOf([plain, union, binary, plain, union])).toEqual([[plain, plain], [union, union], [binary]])
  })
})
