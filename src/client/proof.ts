/** Proves that whoever answers at an address holds the token of daemon.json, without sending it (docs/adr/0060-one-guard.md). */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** A nonce as it may be sent. */
export const nonceForm = /^[\w-]{16,128}$/

/**
 * The answer to a nonce. The address is in it: an impostor at another address could otherwise pass the nonce on to the
 * real daemon, and its answer back.
 */
export function proofOf(token: string, address: string, nonce: string): string {
  return createHmac('sha256', token).update(`offshoot daemon\n${address}\n${nonce}`).digest('hex')
}

export function isProof(proof: unknown, token: string, address: string, nonce: string): boolean {
  if (typeof proof !== 'string' || !/^[0-9a-f]{64}$/.test(proof)) return false
  const right = Buffer.from(proofOf(token, address, nonce), 'hex')
  return timingSafeEqual(Buffer.from(proof, 'hex'), right)
}
