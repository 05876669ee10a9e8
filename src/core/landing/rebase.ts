/** The strategy `rebase`: lands every step as a commit of its own, on top of a branch. */
import { strategyFacts } from '../model/strategies.ts'
import { closeLanded } from './close.ts'
import { buildOne, planCommit, type Built, type Sides } from './commit-build.ts'
import type { LandingStrategy, LandingWork } from './strategy.ts'

export const rebase: LandingStrategy<'rebase'> = {
  ...strategyFacts.rebase,
  name: 'rebase',
  plan: (work) =>
    planCommit(work, {
      build: (sides) => build(work, sides),
      tells: { name: 'post-commit', args: [] },
    }),
  close: closeLanded,
}

/** A part of the work, or the rest after a part, lands as one commit, because it matches no steps. */
async function build(work: LandingWork, sides: Sides): Promise<Built> {
  const { offer, task } = work
  if (offer.whole && task.landed === undefined) {
    const replayed = await replay(work, sides)
    // Replaying steps would bring back conflicts that an update has solved; then the work lands as one commit.
    const isUpdated = offer.basis !== offer.first.tree
    if (replayed.conflicts.length === 0 || !isUpdated) return replayed
  }
  return buildOne(work, sides, { message: 'squashMessage' })
}

/** Makes a commit of the user for each step, on top of the target. Makes none before all of them merge. */
async function replay(
  { ports, repo, task, input, signal }: LandingWork,
  { target, before, theirs, worded }: Sides,
): Promise<Built> {
  let tree = before
  const commits: { tree: string; message: string }[] = []
  for (const step of await ports.publishing.readReplay(repo, task, signal)) {
    const labels = ['rebased', step.commit.slice(0, 10)] as const
    const sides = { base: step.parentTree, ours: tree, theirs: step.tree, labels }
    const merged = await ports.contents.merge(repo, sides, signal)
    if (merged.conflicts.length > 0)
      return { conflicts: merged.conflicts, commit: target, before, after: before, theirs }
    if (merged.tree !== tree) commits.push({ tree: merged.tree, message: step.subject })
    tree = merged.tree
  }
  let commit = target
  if (input.dryRun) return { conflicts: [], commit, before, after: tree, theirs }
  for (const { tree: own, message: subject } of commits) {
    const message = await worded(subject)
    commit = await ports.publishing.commit(repo, task, { tree: own, parents: [commit], message }, signal)
  }
  return { conflicts: [], commit, before, after: tree, theirs }
}
