/** The verb accept: lands the work of a task, by one strategy of landing/index.ts, as one operation. */
import type { Watch } from '../base/watch.ts'
import { askTaskHook, type HookRun, runTaskHook } from '../hooks/hooks.ts'
import { ifSoon } from '../landing/if-soon.ts'
import { landingStrategies, requireStrategy } from '../landing/index.ts'
import { requireLandingPlace } from '../landing/landing-place.ts'
import { bringPointers } from '../landing/modules.ts'
import { type Choice, type Offer, offerOf, rootedChoice } from '../landing/offer.ts'
import { requireOptions } from '../landing/options.ts'
import {
  declinedError,
  lookAt,
  misfitPreview,
  type Preview,
  previewOf,
  requireAllowed,
  requireNoRisk,
  requirePlace,
  requireSolved,
} from '../landing/preview.ts'
import type { Risk } from '../landing/risk.ts'
import type { LandedAt, Landing, LandingInput, LandingStrategy, LandingWork } from '../landing/strategy.ts'
import { wayOut } from '../landing/way-out.ts'
import type { CommandCall } from '../model/command.ts'
import { conflictError } from '../model/errors.ts'
import type { Operation } from '../model/operation.ts'
import type { SkippedPath } from '../model/step.ts'
import type { Strategy } from '../model/strategies.ts'
import type { Task } from '../model/task.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { type Needs, requireNeeds } from '../steps/with-task.ts'
import { requireTask } from '../tasks/find.ts'
import { holdTask, settingsOf } from '../tasks/hold.ts'

export interface AcceptInput<Name extends string = Strategy> extends Choice, LandingInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly as?: Name | undefined
  /** Paths that land even if they were flagged. */
  readonly allow?: readonly string[] | undefined
  /** Refuses to land anything that has a risk. */
  readonly failOnRisk?: boolean | undefined
  /** Is asked before anything with a risk lands; false refuses it. */
  readonly onRisk?: ((risks: readonly Risk[]) => Promise<boolean>) | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
}

export interface Accepted<Name extends string = Strategy> extends LandedAt {
  readonly task: Task
  readonly as: Name
  readonly preview: Preview
  /** The files that no step holds, and that therefore cannot land. */
  readonly skipped?: readonly SkippedPath[] | undefined
  /** The files that somebody changed while they landed: these were not written. */
  readonly left?: readonly string[] | undefined
  /** Undefined in a dry run, and when there was nothing to land. */
  readonly operation?: string | undefined
  /** How the `postAccept` hook ended. */
  readonly hook?: HookRun | undefined
}

/** Lands the work of a task or a part of it, completely or not at all. */
export function accept(
  ports: Ports,
  input: AcceptInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Accepted> {
  return acceptBy(landingStrategies, ports, input, signal, watch)
}

const needs: Needs = { state: 'open', checks: ['idle', 'workspace'], step: 'before the accept' }

/** The same, by a strategy of any list. */
export async function acceptBy<Name extends string>(
  strategies: readonly LandingStrategy<Name>[],
  ports: Ports,
  input: AcceptInput<Name>,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Accepted<Name>> {
  const { repo: here, task: named } = await requireTask(ports, input.dir, input.task)
  const strategy = requireStrategy(strategies, input.as, named)
  requireOptions(strategy, input, strategies)
  const { accept: preset } = await settingsOf(ports, named)
  // A strategy that lands all or nothing lands them, and names them.
  const leaves = preset.leftovers === 'leave' && strategy.takes.includes('part')
  const { withoutFailed = leaves && !input.steps && !input.hunks } = input
  const choice = await rootedChoice(ports, here, input.dir, { ...input, withoutFailed })
  const { onOutput } = input
  if (!input.dryRun) await askTaskHook(ports, here, named, 'preAccept', { onOutput }, signal)
  const { after, tried, ...accepted } = await holdTask(ports, named, { verb: 'accept', signal }, async () => {
    const repo = await requireLandingPlace({ ports, repo: here, task: named })
    const work = await requireNeeds({ ports, repo, task: named, signal, watch }, needs)
    const { task, skipped } = work
    const offer = await offerOf(work, choice)
    if (!('conflicts' in offer))
      return { ...(await land({ ...work, offer, input }, strategy, input)), skipped }
    if (input.dryRun) return { task, as: strategy.name, preview: misfitPreview(offer.conflicts), skipped }
    throw conflictError(
      offer.conflicts,
      'Steps that were left out touch the same lines: choose those as well.',
    )
  })
  // Without the lock, because a hook may call offshoot.
  await after?.()
  if (tried) return { ...accepted, preview: await withAfterwards(accepted.preview, { ...tried, signal }) }
  if (accepted.operation === undefined) return accepted
  const cwd = (await requireLandingPlace({ ports, repo: here, task: named })).place.checkout ?? named.origin
  return { ...accepted, hook: await runTaskHook(ports, here, named, 'postAccept', { cwd, onOutput }, signal) }
}

/** Adds the tasks that will conflict afterwards, to a preview of something that would land. */
async function withAfterwards(
  preview: Preview,
  { ports, repo, task, offer, signal }: LandingTry,
): Promise<Preview> {
  if (!preview.clean || preview.refused.length > 0 || preview.files.length === 0) return preview
  const { conflictsAfterwards } = await import('../landing/later-conflicts.ts')
  const afterwards = await ifSoon(signal, (late) => conflictsAfterwards(ports, repo, { task, offer }, late))
  return { ...preview, afterwards }
}

type LandingTry = Omit<LandingWork, 'input'>

/** The caller holds the task's lock. */
async function land<Name extends string>(
  whole: LandingWork,
  strategy: LandingStrategy<Name>,
  { allow = [], dryRun, failOnRisk, onRisk }: AcceptInput<Name>,
): Promise<Accepted<Name> & Pick<Landing, 'after'> & { readonly tried?: LandingTry }> {
  const { task, offer } = whole
  const part: Offer = (await strategy.fit?.(whole)) ?? offer
  const work = { ...whole, offer: part }
  const looked = await lookAt(whole, strategy, allow)
  if (!dryRun) requireAllowed(looked, strategy)
  if (!dryRun) requireSolved(task, looked)
  if (!dryRun && failOnRisk) requireNoRisk(looked)
  // Before the plan, because some strategies publish the branch there.
  if (!dryRun && looked.risks.length > 0 && onRisk && !(await onRisk(looked.risks)))
    throw declinedError(task, looked)
  const landing = await strategy.plan(work)
  const preview = await previewOf(whole, part, strategy, looked, landing)
  const report = { as: strategy.name, preview }
  if (dryRun)
    return { ...report, task, tried: work, ...(landing.onto !== undefined && { onto: landing.onto }) }
  requirePlace(offer, part, strategy.name)
  if (landing.conflicts.length > 0)
    throw conflictError(landing.conflicts, wayOut(task, strategy, work, landing.conflicts))
  await bringPointers(work)
  const landed = (await landing.send?.()) ?? landing.landed
  const operation = await operationOf(work, strategy, landing)
  // What has been sent cannot be called back, so it is too late to cancel.
  const { task: done, left } = await perform(landing.send ? { ...work, signal: undefined } : work, operation)
  return {
    ...report,
    task: done,
    operation: operation.id,
    left,
    ...landed,
    ...(landing.after && { after: landing.after }),
  }
}

async function operationOf(
  work: LandingWork,
  strategy: LandingStrategy,
  { files, index, head, refs }: Landing,
): Promise<Operation> {
  const { refs: closed, ...ending } = await strategy.close(work)
  const moves = { files, index, head, refs: [...refs, ...closed], final: strategy.final }
  return newOperation(work, 'accept', { ...moves, ...ending })
}
