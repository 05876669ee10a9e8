/** Landing what was done in the user's own checkout: it goes back to its branch, with the work and what was put away. */
import type { AcceptInput } from '../accept.ts'
import { planCommit } from './commit-build.ts'
import type { Landing } from './patch.ts'
import type { Offer } from './offer.ts'
import type { Ports, Repo } from '../ports.ts'
import { goalAt, leaving } from '../shadow.ts'
import type { Strategy } from '../strategies.ts'
import type { Task } from '../task.ts'
import { branchRef } from '../workspace.ts'

export async function planShadow(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  as: Exclude<Strategy, 'keep-branch' | 'pr'>,
  input: AcceptInput,
  signal?: AbortSignal,
): Promise<Landing> {
  if (as === 'patch') return planShadowPatch(ports, repo, task, offer, signal)
  const landing = await planCommit(ports, repo, task, offer, as, input, signal)
  if (landing.conflicts.length > 0) return landing
  const isBase = landing.onto === task.base.branch
  const left = await leaving(ports, repo, task, isBase ? landing.goal : undefined)
  return { ...landing, ...left, refs: [...landing.refs, ...left.refs] }
}

/** Both sides' uncommitted changes, in one checkout. */
async function planShadowPatch(
  ports: Ports,
  repo: Repo,
  task: Task,
  { first, theirs }: Offer,
  signal?: AbortSignal,
): Promise<Landing> {
  const tip = await ports.git.findRef(repo.place, branchRef(task.base.branch ?? ''), signal)
  const now = await goalAt(ports, repo, task, first, tip ?? task.base.commit)
  const sides = { base: first.tree, ours: now.raw, theirs, labels: ['yours', task.id] as const }
  const merged = await ports.contents.merge(repo, sides, signal)
  const left = await leaving(ports, repo, task, { ...now, raw: merged.tree })
  return { ...left, conflicts: [...merged.conflicts, ...left.conflicts], onto: undefined, told: {} }
}
