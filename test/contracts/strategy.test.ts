import { expect, test } from 'vitest'
import { landingStrategies } from '../../src/core/landing/index.ts'
import { strategies, strategyFacts } from '../../src/core/model/strategies.ts'
import { strategyContract } from './strategy.contract.ts'
import { allStrategies } from './strategy.list.ts'

for (const strategy of allStrategies) strategyContract(strategy)

test('each strategy is what the doors say of it', () => {
  expect(landingStrategies.map(({ name }) => name)).toEqual(strategies)
  for (const { name, ...strategy } of landingStrategies) expect(strategy).toMatchObject(strategyFacts[name])
})
