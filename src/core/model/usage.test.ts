import { describe, expect, test } from 'vitest'
import { plus, usedSince } from './usage.ts'

describe('G19: what a run has used', () => {
  const told = { inputTokens: 40, outputTokens: 20, costUsd: 0.3 }

  test('G19: an agent that tells what was used since then is taken at its word', () => {
    expect(usedSince({}, told)).toEqual({ used: told, totals: {} })
  })

  test('G19: of totals of the conversation, what earlier runs have used is left out', () => {
    const totals = ['inputTokens', 'outputTokens'] as const
    const { used, totals: next } = usedSince({ inputTokens: 30, outputTokens: 15 }, { ...told, totals })
    expect(used).toEqual({ inputTokens: 10, outputTokens: 5, costUsd: 0.3 })
    expect(next).toEqual({ inputTokens: 40, outputTokens: 20 })
    const costs = usedSince({ costUsd: 0.1 }, { ...told, totals: ['costUsd'] })
    expect(costs).toEqual({ used: { ...told, costUsd: 0.2 }, totals: { costUsd: 0.3 } })
  })

  test('G19: totals that began anew are not counted back', () => {
    const { used } = usedSince({ inputTokens: 100 }, { ...told, totals: ['inputTokens'] })
    expect(used.inputTokens).toBe(40)
  })

  test.each([-1, NaN, Infinity, '7', null])('G19: %s is no count', (value) => {
    const { used } = usedSince({}, { inputTokens: value as number, outputTokens: 1 })
    expect(used).toEqual({ inputTokens: 0, outputTokens: 1 })
  })

  test('G19: sums have the fields that one of both has', () => {
    expect(plus(undefined, { inputTokens: 1 })).toEqual({ inputTokens: 1, outputTokens: 0 })
    const sum = plus({ inputTokens: 1, outputTokens: 2, costUsd: 0.1 }, { outputTokens: 3, costUsd: 0.2 })
    expect(sum).toEqual({ inputTokens: 1, outputTokens: 5, costUsd: 0.3 })
  })
})
