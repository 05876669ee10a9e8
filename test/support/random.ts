/**
 * Where every random case of the tests comes from. `npm test` uses one seed, so that it is the same each time;
 * `npm run test:random` hands in new ones.
 */
import { createCipheriv } from 'node:crypto'
import fc from 'fast-check'

const { OFFSHOOT_TEST_SEED, OFFSHOOT_TEST_RUNS, OFFSHOOT_TEST_SHRINK } = process.env

export const seed = Number(OFFSHOOT_TEST_SEED ?? 1)

/** How many times as many cases as the test asks for. */
export const repetitions = Number(OFFSHOOT_TEST_RUNS ?? 1)

/** Whether a costly property looks for the smallest case that fails; a quick one always does. */
export const endOnFailure = OFFSHOOT_TEST_SHRINK === undefined

fc.configureGlobal({ seed })

export { fc }

/** Bytes that cannot be compressed, the same for the same size. */
export function noise(size: number): Buffer {
  return createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16)).update(Buffer.alloc(size))
}
