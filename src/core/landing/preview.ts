/** The preview of a landing: its files, its conflicts, and its risks. */
import { loadPathMatcher } from '../base/pathspec.ts'
import { quoted } from '../base/shell-quote.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Conflict, LeafChange } from '../model/tree.ts'
import { lookAtFiles, lookAtHistory, secretLook } from './look.ts'
import type { Offer } from './offer.ts'
import type { Risk } from './risk.ts'
import type { Landing, LandingStrategy, LandingWork } from './strategy.ts'

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
  /** The paths among `risks`. */
  readonly runsCode: readonly string[]
  /** What the user is told before it lands, and after: files that run later, and commits of others. */
  readonly risks: readonly Risk[]
  /** Files that land only if `--allow` names them. */
  readonly refused: readonly Risk[]
}

/** The preview of chosen steps that conflict with each other. */
export function misfitPreview(conflicts: readonly Conflict[]): Preview {
  return { clean: false, conflicts, marked: [], files: [], runsCode: [], risks: [], refused: [] }
}

/** The changed files of the offer, and the risks of landing it. */
export interface Looked {
  readonly changes: ReadonlyMap<BytePath, LeafChange>
  readonly runsCode: readonly string[]
  readonly risks: readonly Risk[]
  readonly refused: readonly Risk[]
}

/** Comes before the strategy's plan, because a plan may publish the branch, which leaves out commits that git refuses. */
export async function lookAt(
  work: LandingWork,
  strategy: LandingStrategy,
  allow: readonly string[],
): Promise<Looked> {
  const { ports, repo, offer } = work
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const look = secretLook(ports, repo)
  const files = await lookAtFiles(ports, repo, changes, { tree: offer.theirs, before: offer.base, look })
  const history = await lookAtHistory(work, strategy, changes, look)
  const allowed = allow.length > 0 ? (await loadPathMatcher())(allow) : () => false
  return {
    changes,
    runsCode: files.told.map(({ path }) => path),
    risks: [...files.told, ...history.told],
    refused: [...files.refused, ...history.refused].filter(({ path }) => !allowed(path)),
  }
}

/** `part` is the part of the offer that the strategy can land. */
export async function previewOf(
  { ports, repo, offer }: LandingWork,
  part: Offer,
  { changes, runsCode, risks, refused }: Looked,
  { conflicts, marked = [] }: Landing,
): Promise<Preview> {
  const left = await ports.contents.compare(repo, part.theirs, offer.theirs)
  const files = acceptedFiles(changes).filter(([file]) => !left.has(file))
  return {
    clean: conflicts.length === 0 && marked.length === 0,
    conflicts,
    marked,
    files: files.map(([, accepted]) => accepted),
    runsCode,
    risks,
    refused,
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

export function requireAllowed({ refused }: Looked, { history }: Pick<LandingStrategy, 'history'>): void {
  const [first] = refused
  if (!first) return
  const named = refused.map(({ path, why }) => `${path} (${why})`).join(', ')
  const paths = [...new Set(refused.map(({ path }) => path))]
  const allowed = paths.map(allowing).join(' ')
  const only = history === undefined ? '' : ' (or --as squash, which hands on the last state alone)'
  throw new AppError('policyRefused', `Not landed: ${named}.`, {
    path: first.path,
    hint: `To land all the same: ${allowed}${only}`,
    data: { refused },
  })
}

/** `--allow a.txt`. A path that begins with `-` would be taken for an option. */
function allowing(file: string): string {
  return file.startsWith('-') ? `--allow=${quoted(file)}` : `--allow ${quoted(file)}`
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
export function declinedError({ risks }: Looked): AppError {
  return new AppError('policyRefused', `Not landed, as you said: ${riskText(risks)}.`, {
    hint: 'Nothing was written. offshoot diff TASK shows the changes; --only lands a part of them.',
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
