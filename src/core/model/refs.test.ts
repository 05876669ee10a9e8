import { expect, test } from 'vitest'
import {
  branchOf,
  branchOfHead,
  branchRef,
  headOn,
  isOurs,
  keptHeadRef,
  keptIndexRef,
  keptRef,
  markRef,
  nowhereHead,
  operationRef,
  pinRef,
  remoteRef,
  strayPinsOf,
  taskRef,
  uidOfKept,
  uidOfPin,
} from './refs.ts'

// In repositories of users and in vaults these names are on the disk: a new spelling would lose what is there.
test('the names of refs stay as they are', () => {
  expect([branchRef('a/b'), remoteRef('origin', 'main'), headOn('a'), nowhereHead]).toEqual([
    'refs/heads/a/b',
    'refs/remotes/origin/main',
    'ref: refs/heads/a',
    'ref: refs/heads/none\n',
  ])
  expect([markRef, pinRef('u1'), keptRef('u1'), keptHeadRef('u1'), keptIndexRef('u1')]).toEqual([
    'refs/offshoot/repo',
    'refs/offshoot/base/u1',
    'refs/offshoot/trash/u1',
    'refs/offshoot/trash/u1-head',
    'refs/offshoot/trash/u1-index',
  ])
  expect([strayPinsOf('u1', 'o1'), taskRef('u1'), operationRef('o1')]).toEqual([
    'refs/offshoot/stray/u1/o1',
    'refs/tasks/u1',
    'refs/operations/o1',
  ])
})

test.each([
  ['refs/heads/a', 'a'],
  ['refs/heads/a/b', 'a/b'],
  ['refs/headsman/a', undefined],
  ['refs/tags/a', undefined],
  ['a', undefined],
])('the branch of %s is %s', (ref, branch) => {
  expect(branchOf(ref)).toBe(branch)
})

test.each([
  ['ref: refs/heads/a/b\n', 'a/b'],
  ['ref: refs/heads/a', 'a'],
  ['ref: refs/heads/\n', null],
  ['ref: refs/tags/a\n', null],
  [`${'1'.repeat(40)}\n`, null],
  ['', null],
])('a HEAD of %j is on %s', (content, branch) => {
  expect(branchOfHead(content)).toBe(branch)
})

test.each([
  [pinRef('u1'), 'u1'],
  [pinRef(''), undefined],
  [pinRef('u1/x'), undefined],
  [keptRef('u1'), undefined],
  ['refs/heads/u1', undefined],
])('%s pins the base of %s', (ref, uid) => {
  expect(uidOfPin(ref)).toBe(uid)
})

test.each([
  [keptRef('u1'), 'u1'],
  [keptHeadRef('u1'), 'u1'],
  [keptIndexRef('u1'), 'u1'],
  [`${strayPinsOf('u1', 'o1')}/0`, 'u1'],
  [`${keptRef('u1')}-of-mine`, undefined],
  [`${keptRef('u1')}/x`, undefined],
  ['refs/offshoot/stray/u1', undefined],
  [pinRef('u1'), undefined],
  [markRef, undefined],
])('%s is kept for %s', (ref, uid) => {
  expect(uidOfKept(ref)).toBe(uid)
})

test('only refs below our own folder are ours', () => {
  expect([markRef, pinRef('u1'), 'refs/offshoots/a', 'refs/heads/offshoot/a'].map(isOurs)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
