import { expect, test } from 'vitest'
import { follower } from './moved.ts'

test('R7: what was in a repository has moved with it, and nothing else', () => {
  const follow = follower('/home/me/shop/.git', '/work/store/.git')
  expect(follow('/home/me/shop')).toBe('/work/store')
  expect(follow('/home/me/shop/.git/worktrees/x')).toBe('/work/store/.git/worktrees/x')
  expect(follow('/home/me/shop-2/a')).toBe('/home/me/shop-2/a')
  expect(follow('/state/workspaces/shop')).toBe('/state/workspaces/shop')
})

test('R7: a bare repository is its git folder', () => {
  expect(follower('/srv/shop.git', '/srv/store.git')('/srv/shop.git/HEAD')).toBe('/srv/store.git/HEAD')
})
