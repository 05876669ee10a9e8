import { expect, test } from 'vitest'
import { checkoutRoot, repoRoot } from './repo.ts'

test.each([
  ['/x/shop/.git', '/x/shop'],
  ['/x/shop.git', '/x/shop.git'],
])('the repository at %s is known as %s', (commonDir, root) => {
  expect(repoRoot(commonDir)).toBe(root)
})

test('the checkout in hand may be a linked one; a bare repository has none', () => {
  expect(checkoutRoot({ checkout: '/x/linked', commonDir: '/x/shop/.git' })).toBe('/x/linked')
  expect(checkoutRoot({ checkout: null, commonDir: '/x/shop/.git' })).toBe('/x/shop/.git')
})
