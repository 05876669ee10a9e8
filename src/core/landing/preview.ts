/** The preview of a landing: its files, its conflicts, and its risks. */
import { counted } from '../base/counted.ts'
import { loadPathMatcher } from '../base/pathspec.ts'
import { allowing } from '../base/shell-quote.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Conflict, LeafChange } from '../model/tree.ts'
import { type Leftover, leftoverRisks, readLeftovers } from './leftovers.ts'
import { contentLook, lookAtFiles, lookAtHistory, lookAtMarkers } from './look.ts'
import type { Offer } from './offer.ts'
import type { Risk } from './risk.ts'
import type { LaterConflict } from './forecast.ts'
import type { Landing, LandingStrategy, LandingWork } from './strategy.ts'
import { wayOut } from './way-out.ts'

interface AcceptedFile {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
}

export interface Preview {
  /** There is no conflict. Refused files may still prevent the landing. */
  readonly clean: boolean
  readonly conflicts: readonly Conflict[]
  /** Conflicts that land as markers in the files, because the user asked for it. */
  readonly marked: readonly Conflict[]
  readonly files: readonly AcceptedFile[]
  /** Submodules that the strategy has no place for; the task stays open with their pointers. */
  readonly left: readonly string[]
  /** The paths among `risks`. */
  readonly runsCode: readonly string[]
  /** What the user is told before it lands, and after: files that run later, commits of others, leftovers of failed tools. */
  readonly risks: readonly Risk[]
  /** Files that land only if `--allow` names them. */
  readonly refused: readonly Risk[]
  /** The steps with what failed tools left. */
  readonly leftovers: readonly Leftover[]
  /** What to do when it would not land. */
  readonly hint?: string | undefined
  /** Of a dry run: tasks that would land now, and conflict when this one has landed; undefined if it took too long. */
  readonly afterwards?: readonly LaterConflict[] | undefined
}

/** The preview of chosen steps that conflict with each other. */
export function misfitPreview(conflicts: readonly Conflict[]): Preview {
  return {
    clean: false,
    conflicts,
    marked: [],
    files: [],
    left: [],
    runsCode: [],
    risks: [],
    refused: [],
    leftovers: [],
  }
}

/** The changed files of the offer, and the risks of landing it. */
export interface Looked {
  readonly changes: ReadonlyMap<BytePath, LeafChange>
  /** Files with conflict markers that the work adds, which land only if `--allow` names them. */
  readonly unsolved: readonly Conflict[]
  readonly runsCode: readonly string[]
  readonly risks: readonly Risk[]
  readonly refused: readonly Risk[]
  readonly leftovers: readonly Leftover[]
}

/** Comes before the strategy's plan, because a plan may publish the branch, which leaves out commits that git refuses. */
export async function lookAt(
  work: LandingWork,
  strategy: LandingStrategy,
  allow: readonly string[],
): Promise<Looked> {
  const { ports, repo, offer } = work
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const look = contentLook(ports, repo)
  const files = await lookAtFiles(work, changes, { tree: offer.theirs, before: offer.base, look })
  const history = await lookAtHistory(work, strategy, changes, look)
  const allowed = allow.length > 0 ? (await loadPathMatcher())(allow) : () => false
  const leftovers = await readLeftovers(ports, repo, offer.leftovers, new Set(changes.keys()))
  const unsolved = await lookAtMarkers(ports, repo, changes, look)
  return {
    changes,
    leftovers,
    unsolved: unsolved.filter(({ path }) => !allowed(path)),
    runsCode: files.told.map(({ path }) => path),
    risks: [...files.told, ...history.told, ...leftoverRisks(leftovers)],
    refused: [...files.refused, ...history.refused].filter(({ path }) => !allowed(path)),
  }
}

/** `part` is the part of the offer that the strategy can land. */
export async function previewOf(
  { ports, repo, task, offer, input }: LandingWork,
  part: Offer,
  strategy: LandingStrategy,
  { changes, leftovers, unsolved, runsCode, risks, refused }: Looked,
  { conflicts: merged, marked = [] }: Landing,
): Promise<Preview> {
  const conflicts = [...unsolved, ...merged]
  const hints = [
    ...(refused.length > 0 ? [allowHint(refused, strategy)] : []),
    ...(unsolved.length > 0 ? [solveHint(task, unsolved)] : []),
    ...(merged.length > 0 ? [wayOut(task, strategy, { input, offer }, merged)] : []),
  ]
  const left = await ports.contents.compare(repo, part.theirs, offer.theirs)
  const files = acceptedFiles(changes).filter(([file]) => !left.has(file))
  return {
    clean: conflicts.length === 0 && marked.length === 0,
    conflicts,
    marked,
    files: files.map(([, accepted]) => accepted),
    left: Array.from(left.keys(), toText).toSorted(),
    runsCode,
    risks,
    refused,
    leftovers,
    ...(hints.length > 0 && { hint: hints.join(' ') }),
  }
}

/** The files in the order of their names, for a person to read. */
function acceptedFiles(changes: ReadonlyMap<BytePath, LeafChange>): [BytePath, AcceptedFile][] {
  return [...changes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, { from, to }]) => [
      file,
      { path: toText(file), status: !from ? 'added' : to ? 'modified' : 'deleted' },
    ])
}

export function requireAllowed({ refused }: Looked, strategy: Pick<LandingStrategy, 'history'>): void {
  const [first] = refused
  if (!first) return
  const named = refused.map(({ path, why }) => `${path} (${why})`).join(', ')
  throw new AppError('policyRefused', `Not landed: ${named}.`, {
    path: first.path,
    hint: allowHint(refused, strategy),
    data: { refused },
  })
}

function allowHint(refused: readonly Risk[], { history }: Pick<LandingStrategy, 'history'>): string {
  const only = history === undefined ? '' : ' (or --as squash, which hands on the last state alone)'
  return `To land all the same: ${allowingAll(refused)}${only}`
}

function allowingAll(named: readonly { readonly path: string }[]): string {
  return [...new Set(named.map(({ path }) => path))].map(allowing).join(' ')
}

/** Throws when a file of the work still has conflict markers, of an update or of the agent's own merge. */
export function requireSolved(task: Task, { unsolved }: Looked): void {
  const [first, ...others] = unsolved
  if (!first) return
  const more =
    others.length > 0
      ? ` and so ${others.length === 1 ? 'has' : 'have'} ${counted(others.length, 'other file')}`
      : ''
  const message = `${first.path} still has conflict markers (line ${first.line})${more}. Nothing was written.`
  throw new AppError('conflict', message, {
    path: first.path,
    hint: solveHint(task, unsolved),
    data: { conflicts: unsolved },
  })
}

function solveHint(task: Task, unsolved: readonly Conflict[]): string {
  return `Resolve them in ${task.path}, then repeat. To land the markers all the same: ${allowingAll(unsolved)}`
}
/** Throws when there is something to tell, for a caller that nobody looks at. */
export function requireNoRisk({ risks }: Looked): void {
  const [first] = risks
  if (!first) return
  throw new AppError('policyRefused', `Not landed: ${riskText(risks)}.`, {
    path: first.path,
    hint: 'Look at them, then accept without --fail-on-risk.',
    data: { risks },
  })
}

/** The error for a user who looked at the risks and said no. */
export function declinedError({ id }: Task, { risks }: Looked): AppError {
  return new AppError('policyRefused', `Not landed, as you said: ${riskText(risks)}.`, {
    hint: `Nothing was written. offshoot diff ${id} shows the changes; --only lands a part of them.`,
    data: { risks },
  })
}

function riskText(risks: readonly Risk[]): string {
  const more = risks.length > 5 ? ` and ${risks.length - 5} more` : ''
  return `${risks
    .slice(0, 5)
    .map(({ path, why }) => `${path} (${why})`)
    .join(', ')}${more}`
}

/** Throws when the strategy can land no part of the offer. */
export function requirePlace(offer: Offer, part: Offer, name: string): void {
  if (part.theirs !== part.base || part.theirs === offer.theirs) return
  throw new AppError(
    'wrongUsage',
    `Only the pointers of submodules have changed, and a ${name} has no place for them.`,
    { hint: 'Land them as a commit: --as squash' },
  )
}
