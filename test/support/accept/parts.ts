/** Which part of a task is landed, and what the reference expects of it. */
import { fc } from '../random.ts'
import { isIgnored } from './edits.ts'
import {
  type Expected,
  landedAsCommit,
  landedAsPatch,
  type Layers,
  merged,
  type Offered,
  type Outcome,
} from './reference.ts'
import { changed, changes, isBelow, isSame, type Tree, without } from './tree.ts'

export type As = 'patch' | 'squash' | 'merge' | 'rebase'

export type Part =
  | { readonly kind: 'whole' }
  | { readonly kind: 'only'; readonly picks: readonly number[] }
  | { readonly kind: 'step'; readonly picks: readonly number[] }

export const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: 'whole' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('only' as const, 'step' as const),
      picks: fc.array(fc.nat(6), { minLength: 1, maxLength: 3 }),
    }),
  },
)

/** As arguments of accept. */
export interface Chosen {
  readonly only?: string[]
  readonly steps?: number[]
}

/** `steps` are the states of the workspace, of step 0 on. */
export function chosen(steps: readonly Tree[], part: Part): Chosen {
  const [base, last] = [steps[0], steps.at(-1)]
  if (part.kind === 'whole' || !base || !last) return {}
  const few = (count: number) => [...new Set(part.picks.map((pick) => pick % Math.max(1, count)))]
  if (part.kind === 'step') return { steps: few(steps.length - 1).map((n) => n + 1) }
  const all = [...changes(base, last).keys()].sort()
  return { only: few(all.length).flatMap((n) => all[n] ?? []) }
}

function offered(steps: readonly Tree[], { only, steps: wanted }: Chosen): Outcome {
  const [base, last] = [steps[0] ?? new Map(), steps.at(-1) ?? new Map()]
  if (only) {
    const named = [...changes(base, last)].filter(([file]) =>
      only.some((one) => file === one || isBelow(file, one)),
    )
    const tree = changed(base, new Map(named))
    // What is in the place of a chosen path goes with it: a file cannot be a folder as well.
    const makesRoom = (file: string) =>
      named.some(([one, to]) => to && (isBelow(one, file) || isBelow(file, one)))
    return { tree: without(tree, (file) => makesRoom(file) && !named.some(([one]) => one === file)) }
  }
  let tree: Tree = wanted ? base : last
  for (const n of [...(wanted ?? [])].sort((a, b) => a - b)) {
    const outcome = merged(steps[n - 1] ?? base, tree, steps[n] ?? last)
    if (!('tree' in outcome)) return outcome
    tree = outcome.tree
  }
  return { tree }
}

export interface Landed {
  readonly expected: Expected
  /** Nothing of the task is left over. */
  readonly whole: boolean
  /** What lands one after the other: several with a rebase of the whole. */
  readonly parts: readonly Offered[]
}

export function landed(steps: readonly Tree[], user: Layers, as: As, choice: Chosen): Landed {
  const [base, last] = [steps[0] ?? new Map(), steps.at(-1) ?? new Map()]
  const offer = offered(steps, choice)
  if (!('tree' in offer)) return { expected: offer, whole: false, parts: [] }
  const whole = [...changes(offer.tree, last)].every(([file]) => isSame(offer.tree.get(file), last.get(file)))
  const all = { base, theirs: offer.tree }
  if (as === 'patch') return { expected: landedAsPatch(all, user, isIgnored), whole, parts: [all] }
  const replayed = steps.slice(1).map((theirs, n) => ({ base: steps[n] ?? base, theirs }))
  const parts = as === 'rebase' && whole ? replayed : [all]
  return { expected: landedAsCommit(parts, user), whole, parts }
}
