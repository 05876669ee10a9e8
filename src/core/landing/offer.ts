/** The offer of an accept: the part of the work that is to land, as a change from one tree to another. */
import path from 'node:path'
import { loadPathMatcher, rootedSpec } from '../base/pathspec.ts'
import { toText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Conflict, Leaf } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import { basisOf, firstOf, isOnCheckout, requireStep } from '../steps/history.ts'
import { type CutFile, cutFiles, parseCuts, picks, withLines } from '../steps/hunks.ts'
import type { Work } from '../tasks/work.ts'
import { leftoverSteps, type OfferedLeftover, withoutSteps } from './leftovers.ts'

export interface Offer {
  readonly first: Step
  /** The tree of the target that the workspace was started from or updated to. */
  readonly basis: string
  readonly base: string
  readonly theirs: string
  /** The workspace was updated to the user's uncommitted changes, which a commit on a branch does not have. */
  readonly onCheckout?: boolean | undefined
  /** The offer holds all of the work. */
  readonly whole: boolean
  /** The steps that hold what a failed tool left, whether they land or not. */
  readonly leftovers: readonly OfferedLeftover[]
}

/** The chosen steps touch the same lines as steps that were left out. */
export interface Misfit {
  readonly conflicts: readonly Conflict[]
}

/** The part of the work that the user chose; without any field, all of it. */
export interface Choice {
  /** Only these paths. */
  readonly only?: readonly string[] | undefined
  /** Only these steps. */
  readonly steps?: readonly number[] | undefined
  /** Only these hunks, by their ids. */
  readonly hunks?: readonly string[] | undefined
  /** All but what failed tools left. */
  readonly withoutFailed?: boolean | undefined
}

/** Makes the paths, which the user gave relative to `dir`, relative to the root of the checkout. */
export async function rootedChoice(
  ports: Pick<Ports, 'files'>,
  { place }: Repo,
  dir: string,
  { only, steps, hunks, withoutFailed }: Choice,
): Promise<Choice> {
  const rest = { steps, hunks, withoutFailed }
  if (!only || place.checkout === null) return { only, ...rest }
  const folder = path.relative(place.checkout, await ports.files.readRealPath(dir))
  return { only: only.map((spec) => rootedSpec(spec, folder)), ...rest }
}

export async function offerOf({ ports, repo, task, signal }: Work, choice: Choice): Promise<Offer | Misfit> {
  const steps = await ports.steps.readSteps(repo, task)
  const first = steps[0] ? firstOf(task, steps) : await ports.seeding.seed(repo, task)
  const last = steps.at(-1) ?? first
  const basis = basisOf(steps)
  const base = landedBase(task, basis)
  const failed = leftoverSteps(steps, task.landed?.tree)
  const unwanted = choice.withoutFailed ? failed : []
  const work = await withoutSteps(ports, repo, steps, last.tree, unwanted)
  if (typeof work !== 'string') return work
  const wanted = choice.steps?.filter((n) => !unwanted.some((step) => step.n === n))
  const theirs = await chosenTree({ ports, repo, task, signal }, steps, base, work, {
    ...choice,
    steps: wanted,
  })
  if (typeof theirs !== 'string') return theirs
  const leftovers = failed.map((step) => ({
    step,
    before: requireStep(task, steps, step.n - 1).tree,
    landed: !unwanted.includes(step) && (wanted?.includes(step.n) ?? true),
  }))
  const whole = theirs === last.tree
  return { first, basis, base, theirs, onCheckout: isOnCheckout(steps), whole, leftovers }
}

/**
 * The tree with the part of the task that the target has already. After an update since that landing, or a rewind behind
 * one, it is the target as it was merged then: a part that landed before is the same change on both sides of the merge.
 */
export function landedBase({ landed }: Task, basis: string): string {
  return landed?.basis === basis ? landed.tree : basis
}

async function chosenTree(
  work: Work,
  steps: readonly Step[],
  base: string,
  last: string,
  { only, steps: wanted, hunks }: Choice,
): Promise<string | Misfit> {
  if (hunks) return pickHunks(work, base, last, hunks)
  const theirs = wanted ? await pickSteps(work, steps, base, wanted) : last
  return only && typeof theirs === 'string' ? pickPaths(work, base, theirs, only) : theirs
}

/** Applies the change of each chosen step, one after the other, on top of the landed part. */
async function pickSteps(
  { ports, repo, task }: Work,
  steps: readonly Step[],
  base: string,
  wanted: readonly number[],
): Promise<string | Misfit> {
  let tree = base
  for (const n of [...wanted].sort((a, b) => a - b)) {
    // The named step first, so that an error names it and not the one before it.
    const [after, before] = [requireStep(task, steps, n), requireStep(task, steps, n - 1)]
    const sides = {
      base: before.tree,
      ours: tree,
      theirs: after.tree,
      labels: ['landed', `step-${n}`] as const,
    }
    const merged = await ports.contents.merge(repo, sides)
    if (merged.conflicts.length > 0) return { conflicts: merged.conflicts }
    tree = merged.tree
  }
  return tree
}

async function pickPaths(
  { ports, repo, task }: Work,
  base: string,
  theirs: string,
  only: readonly string[],
): Promise<string> {
  const matches = (await loadPathMatcher())(only)
  const all = await ports.contents.compare(repo, base, theirs)
  const wanted = [...all].filter(([file]) => matches(toText(file)))
  if (wanted.length === 0)
    throw new AppError('notFound', `No changed file matches --only ${only.join(' ')}.`, {
      hint: `offshoot diff ${task.id} --name-only lists the changed files.`,
    })
  return ports.contents.change(repo, base, new Map(wanted.map(([file, { to }]) => [file, to])))
}

async function pickHunks(
  { ports, repo, task, signal }: Work,
  base: string,
  theirs: string,
  ids: readonly string[],
): Promise<string> {
  if (ids.length === 0) {
    throw new AppError('wrongUsage', '--hunks names no hunk.', {
      hint: `offshoot diff ${task.id} --hunks lists them.`,
    })
  }
  const { contents } = ports
  const changes = new Map<string, Leaf | null>()
  const cut = await readHunks(ports, repo, base, theirs, signal)
  for (const [{ path: file, change }, pick] of picks(task, cut, ids)) {
    if ('to' in pick || !change.from || !change.to) {
      changes.set(file, change.to)
      continue
    }
    const before = await contents.readContent(repo, change.from)
    const after = await contents.readContent(repo, change.to)
    const oid = await contents.write(repo, withLines(before, after, pick.lines))
    changes.set(file, { mode: pick.mode, oid })
  }
  return contents.change(repo, base, changes)
}

/** The changes between two trees, by file and hunk. */
export async function readHunks(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  from: string,
  to: string,
  signal?: AbortSignal,
): Promise<CutFile[]> {
  const changes = await ports.contents.compare(repo, from, to)
  if (changes.size === 0) return []
  const patch = await ports.contents.readPatch(repo, from, to, signal)
  return cutFiles(changes, parseCuts(patch.toString('latin1')))
}
