/** The list of benchmark cases. */
import type { Case } from '../case.ts'
import { accept, reject } from './accept.ts'
import { checkpoint, manySteps } from './checkpoint.ts'
import { listAgainstNode, listGrowth } from './list.ts'
import { lookUp } from './look-up.ts'
import { firstStatus, handOver, handOverGrowth, startAgainstNode } from './pool.ts'
import { prune } from './prune.ts'
import { recoverNothing, recoverWithoutGit } from './recover.ts'
import { toolCall } from './tool-call.ts'
import { remove, start, startDirty } from './worktree.ts'

/** Every case that `npm run bench` measures, with its bar. */
export const cases: readonly Case[] = [
  start(52, 1.3),
  remove(52),
  listAgainstNode(30, 1.5),
  listGrowth(1000, 10, 2),
  lookUp(52),
  recoverNothing(1000, 10),
  recoverWithoutGit(1000),
  checkpoint(52, 'named'),
  checkpoint(52, 'found'),
  toolCall(52, 2),
  start(10_000, 1.3),
  startDirty(10_000, 1.3),
  remove(10_000),
  checkpoint(10_000, 'named', 0.6),
  checkpoint(10_000, 'found', 1),
  checkpoint(80_000, 'named', 0.45),
  checkpoint(80_000, 'found', 1),
  manySteps(10_000, 1.3),
  accept(10_000, 1, 2),
  accept(10_000, 100, 3),
  accept(10_000, 5_000, 3),
  reject(10_000, 0.2),
  prune(100, 1_000, 0.2),
  handOver(5_000, 0.05),
  handOver(80_000, 0.01),
  handOverGrowth(80_000, 5_000, 2),
  firstStatus(5_000, 1),
  startAgainstNode(5_000, 3),
]
