/**
 * Random edits of a user and an agent, landed in every way and in parts. What must come out is computed a second time,
 * by the reference in test/support/accept.
 */
import { expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { patch } from '../../src/core/landing/patch.ts'
import { squash } from '../../src/core/landing/squash.ts'
import type { Landing } from '../../src/core/landing/strategy.ts'
import { requireTask } from '../../src/core/tasks/find.ts'
import type { FileMove } from '../../src/core/model/operation.ts'
import type { Leaf } from '../../src/core/model/tree.ts'
import { openRepo } from '../../src/index.ts'
import { writeTree } from '../support/accept/disk.ts'
import {
  baseTree,
  type Edit,
  edited,
  edits,
  isIgnored,
  looseEdits,
  someEdits,
} from '../support/accept/edits.ts'
import { type Expected, landedAsCommit, landedAsPatch, type Layers } from '../support/accept/reference.ts'
import { inParallel } from '../support/accept/parallel.ts'
import { type As, chosen, landed, part } from '../support/accept/parts.ts'
import { checkCase } from '../support/accept/check-case.ts'
import { changes, listed, type Tree } from '../support/accept/tree.ts'
import { makeCaseRepo, stepsOf } from '../support/accept/case-repo.ts'
import { fc, repetitions } from '../support/random.ts'
import { quickFolder, testRepo } from '../support/repo.ts'

const minute = 60_000

interface UserEdits {
  readonly committed: Edit[]
  readonly staged: Edit[]
  readonly loose: Edit[]
}

const userEdits: fc.Arbitrary<UserEdits> = fc.record({
  committed: edits(3),
  staged: edits(2),
  loose: looseEdits(4),
})

/** What the user has in each layer after their edits. */
function layersOf(base: Tree, { committed, staged, loose }: UserEdits): Layers {
  const head = edited(base, 'usrA', committed)
  const index = edited(head, 'usrB', staged)
  return { head, index, files: edited(index, 'usrC', loose) }
}

const nothing: Tree = new Map()

/** One repository, task and library for a thousand plans. */
async function planner() {
  const repo = testRepo({}, quickFolder())
  const opened = openRepo(repo.dir, { env: repo.env })
  await opened.start({ task: 'T1' })
  await opened.checkpoint({ task: 'T1' })
  await opened.close()
  const ports = compose({ env: repo.env })
  onTestFinished(() => ports.close())
  const found = await requireTask(ports, repo.dir, 'T1')
  const [first] = await ports.steps.readSteps(found.repo, found.task)
  if (!first) throw new Error('There is no step 0.')
  const scratch = quickFolder()
  let [inScratch, inCheckout] = [nothing, nothing]
  const keep = async (tree: Tree): Promise<string> => {
    writeTree(scratch, inScratch, tree)
    inScratch = tree
    const taken = await ports.contents.capture(found.repo, scratch, tree.keys())
    const leaves = new Map<string, Leaf | null>()
    for (const [file, there] of taken) leaves.set(file, there.kind === 'file' ? there.leaf : null)
    return ports.contents.change(found.repo, null, leaves)
  }
  return {
    ports,
    ...found,
    /** Both trees in the vault, as if the one had been started from and the other were the last step. */
    offerOf: async (base: Tree, theirs: Tree) => ({
      first,
      basis: first.tree,
      base: await keep(base),
      theirs: await keep(theirs),
      whole: true,
      leftovers: [],
    }),
    checkOut(layers: Layers, withHead: boolean) {
      const write = (tree: Tree) => {
        writeTree(repo.dir, inCheckout, tree)
        inCheckout = tree
      }
      if (withHead) {
        write(layers.head)
        repo.git('add', '--all')
        repo.git('commit', '--quiet', '--allow-empty', '--message=Head')
      }
      // The index may be anything: now and then it is what another case has left.
      if (withHead || changes(layers.head, layers.index).size > 1) {
        write(layers.index)
        repo.git('add', '--all')
      }
      write(layers.files)
    },
  }
}

/** The listing after the moves, each of which must find what it says. */
function moved(listing: Record<string, string>, moves: readonly FileMove[] = []): Record<string, string> {
  const result = { ...listing }
  const told = (leaf: Leaf | null) => (leaf ? `${leaf.mode} ${leaf.oid}` : undefined)
  for (const { path: file, from } of moves) expect(result[file], `before: ${file}`).toBe(told(from))
  for (const { path: file } of moves) delete result[file]
  for (const { path: file, to } of moves) if (to) result[file] = told(to) ?? ''
  return result
}

function judge(plan: Landing, user: Layers, expected: Expected): 'landed' | 'refused' {
  if (!('layers' in expected)) {
    expect(plan, `refused: ${JSON.stringify(expected)}`).not.toMatchObject({ conflicts: [] })
    return 'refused'
  }
  expect(plan.conflicts).toEqual([])
  expect(moved(listed(user.files), plan.files?.moves)).toEqual(listed(expected.layers.files))
  const entries = plan.index && 'moves' in plan.index ? plan.index.moves : undefined
  expect(moved(listed(user.index), entries)).toEqual(listed(expected.layers.index))
  return 'landed'
}

test('A1, A3: 200 plans of a patch are what the reference says', { timeout: 10 * minute }, async () => {
  const seen = { landed: 0, refused: 0 }
  await inParallel(200, planner, ({ ports, repo, task, offerOf, checkOut }) =>
    fc.asyncProperty(baseTree, someEdits(5), userEdits, async (base, agent, edits) => {
      const theirs = edited(base, 'agnt', agent)
      const user = layersOf(base, edits)
      const expected = landedAsPatch({ base, theirs }, user, isIgnored)
      fc.pre(!('unsure' in expected))
      checkOut(user, false)
      const offer = await offerOf(base, theirs)
      const plan = await patch.plan({ ports, repo, task, offer, input: {}, signal: undefined })
      expect([plan.index, plan.refs]).toEqual([undefined, []])
      seen[judge(plan, user, expected)]++
    }),
  )
  // Neither side of the property is empty.
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(20 * repetitions)
})

test('A2, A3: 50 plans of commits are what the reference says', { timeout: 10 * minute }, async () => {
  const seen = { landed: 0, refused: 0 }
  await inParallel(50, planner, ({ ports, repo, task, offerOf, checkOut }) =>
    fc.asyncProperty(baseTree, someEdits(4), userEdits, async (base, agent, edits) => {
      const theirs = edited(base, 'agnt', agent)
      const user = layersOf(base, edits)
      const expected = landedAsCommit([{ base, theirs }], user)
      fc.pre(!('unsure' in expected))
      checkOut(user, true)
      const offer = await offerOf(base, theirs)
      const input = { dryRun: true }
      const plan = await squash.plan({ ports, repo, task, offer, input, signal: undefined })
      seen[judge(plan, user, expected)]++
    }),
  )
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(4 * repetitions)
})

const steps = fc.array(looseEdits(3), { minLength: 1, maxLength: 3 })
const strategy = fc.constantFrom<As>('patch', 'squash', 'merge', 'rebase')

test('A1 to A6, P3: 25 accepts are what the reference says, and undo takes each back', {
  timeout: 10 * minute,
}, async () => {
  const seen = { landed: 0, refused: 0 }
  await inParallel(25, makeCaseRepo, (caseRepo) =>
    fc.asyncProperty(baseTree, steps, userEdits, strategy, part, async (base, agent, edits, as, which) => {
      const states = agent.map((_, n) => edited(base, 'agnt', agent.slice(0, n + 1).flat()))
      const held = stepsOf(base, states)
      fc.pre(held.length > 1 && changes(base, held.at(-1) ?? base).size > 0)
      const user = layersOf(base, edits)
      const choice = chosen(held, which)
      const told = landed(held, user, as, choice)
      fc.pre(!('unsure' in told.expected))
      await checkCase(caseRepo, { base, states, user, as, choice, told })
      seen['layers' in told.expected ? 'landed' : 'refused']++
    }),
  )
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(4 * repetitions)
})
