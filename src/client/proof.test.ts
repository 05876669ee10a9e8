import { expect, test } from 'vitest'
import { isProof, nonceForm, proofOf } from './proof.ts'

const nonce = 'n'.repeat(32)
const proof = proofOf('token', '/a.sock', nonce)

test('D2: a proof is right for its token, its address and its nonce alone', () => {
  expect(isProof(proof, 'token', '/a.sock', nonce)).toBe(true)
  expect(isProof(proof, 'other', '/a.sock', nonce)).toBe(false)
  expect(isProof(proof, 'token', '/b.sock', nonce)).toBe(false)
  expect(isProof(proof, 'token', '/a.sock', `${nonce}x`)).toBe(false)
})

test.each([undefined, null, '', 'x', 7, {}, proof.slice(1), `${proof}0`, [proof]])(
  'D2: no proof: %j',
  (other) => {
    expect(isProof(other, 'token', '/a.sock', nonce)).toBe(false)
  },
)

test('D2: the parts of what is proven cannot run into each other', () => {
  expect(nonceForm.test('a\nb'.repeat(10))).toBe(false)
})
