import { expect, test } from 'vitest'
import { folderFlaw, type Ground, hasOnly, wayFlaw } from './own-ground.ts'

const us = 1000
const group = 1000
const ground: Ground = { us, root: 0, isOurGroup: (gid) => gid === group }

test.each([
  ['of ours', { uid: us, mode: 0o755 }, undefined],
  ['of root', { uid: 0, mode: 0o755 }, undefined],
  ['of another user', { uid: 1001, mode: 0o700 }, 'foreign'],
  ['for everybody, each their own', { uid: 0, mode: 0o1777 }, undefined],
  ['that everybody may write', { uid: us, mode: 0o777 }, 'loose'],
  ['that our own group may write', { uid: us, mode: 0o775 }, undefined],
  ['that a group of several may write', { uid: us, mode: 0o775, gid: 50 }, 'loose'],
])('M4: a folder %s on the way', (_, seen, kind) => {
  expect(wayFlaw({ gid: group, ...seen }, ground)?.kind).toBe(kind)
})

test('M4: who owns / in a user namespace stands for root', () => {
  expect(wayFlaw({ uid: 65534, gid: 65534, mode: 0o755 }, { ...ground, root: 65534 })).toBeUndefined()
})

test.each([
  [{ uid: us, mode: 0o700 }, true, undefined],
  [{ uid: us, mode: 0o750 }, true, 'open'],
  [{ uid: us, mode: 0o1777 }, true, 'foreign'],
  [{ uid: 0, mode: 0o700 }, true, 'foreign'],
  [{ uid: us, mode: 0o600 }, false, 'foreign'],
])('M4: a private folder %o', (seen, isFolder, kind) => {
  expect(folderFlaw({ gid: group, ...seen, isDirectory: () => isFolder }, ground)?.kind).toBe(kind)
})

const passwd =
  'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n'

test.each([
  ['ann:x:1000:\n', 1000, true],
  ['ann:x:1000:ann\n', 1000, true],
  ['ann:x:1000:bob\n', 1000, false],
  ['bob:x:1001:\n', 1001, false],
  ['staff:x:50:\n', 50, false],
])('M4: the group %j of user 1000', (groups, gid, expected) => {
  expect(hasOnly(1000, gid, passwd, groups)).toBe(expected)
})
