import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allEnded } from './concurrency.ts'

test('P2: a failure is told when the others have ended, not before', async () => {
  const slow = Promise.withResolvers<string>()
  let told = false
  const both = allEnded([Promise.reject(new Error('first')), slow.promise]).catch((error: unknown) => {
    told = true
    return error
  })
  await turn()
  expect(told).toBe(false)
  slow.resolve('second')
  expect(await both).toEqual(new Error('first'))
})

test('P2: without a failure, every answer is there in its place', async () => {
  expect(await allEnded([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two'])
})
