/** The preview of a landing: its files, its conflicts, and its risks. */
import { toText } from '../model/bytes.ts'
import { eachOf } from '../base/concurrency.ts'
import { AppError } from '../model/errors.ts'
import { loadPathMatcher } from '../base/pathspec.ts'
import type { Conflict } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import type { Offer } from './offer.ts'
import { type RiskyFile, risks } from './risk.ts'
import type { Landing } from './strategy.ts'

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
  readonly runsCode: readonly string[]
  /** Files that land only if `--allow` names them. */
  readonly refused: readonly { path: string; why: string }[]
}

/** The preview of chosen steps that conflict with each other. */
export function misfitPreview(conflicts: readonly Conflict[]): Preview {
  return { clean: false, conflicts, marked: [], files: [], runsCode: [], refused: [] }
}

/** `part` is the part of the offer that the strategy can land. */
export async function previewOf(
  ports: Ports,
  repo: Repo,
  { offer, part }: { readonly offer: Offer; readonly part: Offer },
  { conflicts, marked = [] }: Landing,
  allow: readonly string[],
): Promise<Preview> {
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const files: (RiskyFile & AcceptedFile)[] = []
  const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1))
  await eachOf(sorted.entries(), 16, async ([index, [file, { from, to }]]) => {
    const content =
      to && to.mode !== '160000' ? await ports.contents.findContent(repo, to, looksAt) : undefined
    const status = !from ? 'added' : to ? 'modified' : 'deleted'
    files[index] = { path: toText(file), status, from, to, content }
  })
  const found = risks(files)
  const left = await ports.contents.compare(repo, part.theirs, offer.theirs)
  const leftOut = new Set(Array.from(left.keys(), toText))
  const allowed = allow.length > 0 ? (await loadPathMatcher())(allow) : () => false
  return {
    clean: conflicts.length === 0 && marked.length === 0,
    conflicts,
    marked,
    files: files.filter(({ path }) => !leftOut.has(path)).map(({ path, status }) => ({ path, status })),
    runsCode: found.runsCode,
    refused: found.refused.filter(({ path }) => !allowed(path)),
  }
}

/** Larger files are not searched for secrets. */
const looksAt = 1024 * 1024

export function requireAllowed({ refused }: Preview): void {
  const [first] = refused
  if (!first) return
  const named = refused.map(({ path, why }) => `${path} (${why})`).join(', ')
  throw new AppError('policyRefused', `Not landed: ${named}.`, {
    path: first.path,
    hint: `To land it all the same: --allow ${first.path}`,
    data: { refused },
  })
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
