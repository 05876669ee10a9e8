import type { Case } from '../case.ts'
import { listAgainstNode, listGrowth } from './list.ts'
import { lookUp } from './look-up.ts'
import { remove, start } from './worktree.ts'

/** Every case that `npm run bench` measures, with its bar. */
export const cases: readonly Case[] = [
  start(52, 1.3),
  remove(52),
  listAgainstNode(30, 2),
  listGrowth(1000, 10, 2),
  lookUp(52),
  start(10_000, 1.3),
  remove(10_000),
]
