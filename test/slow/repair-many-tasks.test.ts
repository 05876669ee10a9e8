import { test } from 'vitest'
import { repairsAll } from '../support/damaged.ts'
import { quickFolder } from '../support/repo.ts'

test(
  'R7: of 1,000 tasks 100 are damaged in ten ways: doctor names all, repair mends what can be, nothing else changes',
  async () => {
    await repairsAll(1_000, 10, quickFolder())
  },
  30 * 60_000,
)
