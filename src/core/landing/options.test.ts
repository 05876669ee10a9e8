import { expect, test } from 'vitest'
import { strategies, strategyFacts } from '../model/strategies.ts'
import { requireOptions } from './options.ts'
import type { LandingStrategy } from './strategy.ts'

const list = strategies.map((name): LandingStrategy => {
  const never = () => Promise.reject(new Error('Nothing is planned here.'))
  return { name, ...strategyFacts[name], plan: never, close: never }
})
const named = (name: string) => list.find((strategy) => strategy.name === name)!

test('an option that has no place is refused with the reason, and with the strategies that take it', () => {
  const refused = (name: string, input: object) => () => requireOptions(named(name), input, list)
  expect(refused('patch', { onto: 'main' })).toThrow(
    expect.objectContaining({
      code: 'WT_019',
      message: '--as patch does not take --onto: it leaves uncommitted changes in your files.',
      hint: 'Leave it out, or use --as squash, merge, rebase, pr.',
    }),
  )
  expect(refused('pr', { hunks: ['1'] })).toThrow(
    '--as pr does not take --only, --step, --hunks or --without-failed',
  )
  expect(refused('keep-branch', { keep: true })).toThrow('--as keep-branch does not take --keep')
})

test('hunks are picked one by one, so nothing else picks beside them', () => {
  const refused = (input: object) => () => requireOptions(named('patch'), input, list)
  expect(refused({ hunks: ['1'], only: ['a'] })).toThrow('--hunks cannot be combined with --only.')
  expect(refused({ hunks: ['1'], steps: [1] })).toThrow('--hunks cannot be combined with --step.')
  expect(refused({ only: ['a'], steps: [1] })).not.toThrow()
})

test('what nobody asked for is no option, and a message is not empty', () => {
  for (const strategy of list)
    requireOptions(strategy, { conflicts: 'fail', keep: false, hooks: false }, list)
  expect(() => requireOptions(named('squash'), { message: ' ' }, list)).toThrow('The message of -m is empty.')
})
