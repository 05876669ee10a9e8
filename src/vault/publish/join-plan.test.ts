import { describe, expect, test } from 'vitest'
import { type Gathered, joinPlan } from './join-plan.ts'

const tip = { n: 2, commit: 'tip', tree: 'tree' }

/** Step 1 was published, step 2 is new, and nobody else has committed anything. */
const gathered = (more: Partial<Gathered> = {}): Gathered => ({
  base: 'base',
  tip,
  last: 'last',
  heads: { branch: 'last', workspace: 'last', stray: undefined },
  standings: new Map(),
  ...more,
})

describe('without a step to publish', () => {
  test('the branch stays where it is, whatever else there is', () => {
    const heads = { branch: 'theirs', workspace: 'own', stray: 'stray' }
    expect(joinPlan(gathered({ tip: undefined, last: undefined, heads }))).toEqual({
      kind: 'none',
      tip: 'theirs',
    })
  })

  test('a branch that is gone counts as one at the base', () => {
    const heads = { branch: undefined, workspace: undefined, stray: undefined }
    expect(joinPlan(gathered({ tip: undefined, last: undefined, heads }))).toEqual({
      kind: 'none',
      tip: 'base',
    })
  })
})

describe('after the last step was published', () => {
  const heads = { branch: 'tip', workspace: 'tip', stray: undefined }
  const published = gathered({ last: 'tip', heads })

  test('nothing moves while every head is there', () => {
    expect(joinPlan(published)).toEqual({ kind: 'settled', tip: 'tip' })
  })

  test.each<[string, Partial<Gathered>, readonly string[], readonly string[]]>([
    ['the branch is gone', { heads: { ...heads, branch: undefined, workspace: undefined } }, [], ['base']],
    [
      'the branch was set back',
      { heads: { ...heads, branch: 'old', workspace: 'old' }, standings: new Map([['old', 'below']]) },
      [],
      ['base', 'old'],
    ],
    ['only a clone has the branch', { heads: { ...heads, branch: undefined } }, [], ['base']],
    ['a clone lacks the branch', { heads: { ...heads, workspace: undefined } }, [], ['base', 'tip']],
    [
      'a clone has more commits',
      { heads: { ...heads, workspace: 'own' }, standings: new Map([['own', 'beside']]) },
      ['own'],
      ['base', 'tip'],
    ],
    [
      'the agent committed on no branch',
      { heads: { ...heads, stray: 'stray' }, standings: new Map([['stray', 'beside']]) },
      ['stray'],
      ['base', 'tip'],
    ],
  ])('the branch moves again if %s', (_, more, join, known) => {
    expect(joinPlan({ ...published, ...more })).toEqual({ kind: 'move', tip, join, known })
  })

  test('a crash before the note of what was published leaves the branch at the new commit', () => {
    const plan = joinPlan({ ...published, last: 'last', standings: new Map([['tip', 'below']]) })
    expect(plan).toEqual({ kind: 'move', tip, join: [], known: ['base', 'tip'] })
  })
})

describe('K10, K11: a new step', () => {
  test('goes on top of the last published one', () => {
    expect(joinPlan(gathered())).toEqual({ kind: 'move', tip, join: [], known: ['base', 'last'] })
  })

  test('is the first on a branch that does not exist yet', () => {
    const heads = { branch: undefined, workspace: undefined, stray: undefined }
    const plan = joinPlan(gathered({ last: undefined, heads }))
    expect(plan).toEqual({ kind: 'move', tip, join: [], known: ['base'] })
  })

  test('needs no join with commits that it is on top of', () => {
    const heads = { branch: 'base', workspace: 'base', stray: undefined }
    const plan = joinPlan(gathered({ last: undefined, heads, standings: new Map([['base', 'below']]) }))
    expect(plan).toEqual({ kind: 'move', tip, join: [], known: ['base', 'base'] })
  })

  test('is joined with every commit beside it: first the branch, then the clone, then the stray one', () => {
    const heads = { branch: 'theirs', workspace: 'own', stray: 'stray' }
    const standings = new Map(['stray', 'own', 'theirs'].map((head) => [head, 'beside' as const]))
    const plan = joinPlan(gathered({ heads, standings }))
    expect(plan).toEqual({ kind: 'move', tip, join: ['theirs', 'own', 'stray'], known: ['base', 'theirs'] })
  })

  test('is joined once with a commit that is branch and workspace', () => {
    const heads = { branch: 'own', workspace: 'own', stray: undefined }
    const plan = joinPlan(gathered({ heads, standings: new Map([['own', 'beside']]) }))
    expect(plan).toMatchObject({ join: ['own'], known: ['base', 'own'] })
  })

  test('is not held up by a commit that lacks objects, and does not rely on it', () => {
    const heads = { branch: 'torn', workspace: 'torn', stray: 'stray' }
    const standings = new Map([['torn', 'lacking'] as const, ['stray', 'beside'] as const])
    const plan = joinPlan(gathered({ heads, standings }))
    expect(plan).toEqual({ kind: 'move', tip, join: ['stray'], known: ['base'] })
  })

  test('relies on nothing that only a clone has', () => {
    const heads = { branch: 'last', workspace: 'own', stray: undefined }
    const plan = joinPlan(gathered({ heads, standings: new Map([['own', 'below']]) }))
    expect(plan).toMatchObject({ join: [], known: ['base', 'last'] })
  })
})
