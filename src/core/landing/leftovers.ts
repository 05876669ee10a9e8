/** Steps that hold what a failed tool left: which of them an accept lands, and the work without them. */
import { toText } from '../model/bytes.ts'
import type { Repo } from '../model/repo.ts'
import { failedTool, type Step } from '../model/step.ts'
import type { Conflict } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { Risk } from './risk.ts'

export interface Leftover {
  readonly n: number
  /** The tool that failed. */
  readonly tool: string
  readonly files: readonly string[]
  /** False: the accept leaves it out. */
  readonly landed: boolean
}

/** The steps after a failed tool; those that landed before, with the whole state of a step, are left out. Pure. */
export function leftoverSteps(steps: readonly Step[], landed: string | undefined): Step[] {
  const last = landed === undefined ? -1 : steps.findLastIndex(({ tree }) => tree === landed)
  return steps.slice(last + 1).filter((step) => failedTool(step) !== undefined)
}

/** The tree without the changes of these steps, or the conflicts with later steps that built on them. */
export async function withoutSteps(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  steps: readonly Step[],
  tree: string,
  unwanted: readonly Step[],
): Promise<string | { conflicts: readonly Conflict[] }> {
  let left = tree
  for (const step of unwanted.toReversed()) {
    const before = steps[step.n - 1]
    if (!before) continue
    const labels = ['work', `before-step-${step.n}`] as const
    const sides = { base: step.tree, ours: left, theirs: before.tree, labels }
    const merged = await ports.contents.merge(repo, sides)
    if (merged.conflicts.length > 0) return { conflicts: merged.conflicts }
    left = merged.tree
  }
  return left
}

/** A step after a failed tool, as an offer holds it. */
export interface OfferedLeftover {
  readonly step: Step
  /** The tree of the step before it. */
  readonly before: string
  readonly landed: boolean
}

/** What these steps changed, of the paths that land; a step none of whose files land is no matter of this accept. */
export async function readLeftovers(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  offered: readonly OfferedLeftover[],
  landing: ReadonlySet<string>,
): Promise<Leftover[]> {
  const found: Leftover[] = []
  for (const { step, before, landed } of offered) {
    const changed = [...(await ports.contents.compare(repo, before, step.tree)).keys()]
    const files = landed ? changed.filter((file) => landing.has(file)) : changed
    if (files.length > 0)
      found.push({ n: step.n, tool: failedTool(step) ?? '', files: files.map(toText), landed })
  }
  return found
}

export function leftoverRisks(leftovers: readonly Leftover[]): Risk[] {
  return leftovers.flatMap(({ n, tool, files, landed }) =>
    landed ? files.map((path) => ({ path, why: `left by ${tool}, which failed (step ${n})` })) : [],
  )
}
