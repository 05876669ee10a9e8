/**
 * Random edits of a user and an agent, landed in every way and in parts. What must come out is computed a second time,
 * by the reference in test/support/accept. `SEED=…` replays a run, `RUNS=10` makes it ten times as long.
 */
import { rmSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose.ts'
import { planCommit } from '../../src/core/land-commit.ts'
import { planPatch } from '../../src/core/land-patch.ts'
import { requireTask } from '../../src/core/list.ts'
import type { FileMove } from '../../src/core/operation.ts'
import type { Leaf } from '../../src/core/ports.ts'
import { openRepo } from '../../src/index.ts'
import { writeTree } from '../support/accept/disk.ts'
import { baseTree, type Edit, edited, edits, isIgnored, looseEdits, someEdits } from '../support/accept/edits.ts'
import { landedAsCommit, landedAsPatch, type Layers } from '../support/accept/reference.ts'
import { listed, type Tree } from '../support/accept/tree.ts'
import { tempFolder, testRepo } from '../support/repo.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000)
const runs = Number(process.env.RUNS ?? 1)
console.log(`accept-property: SEED=${seed}`)

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
  const repo = testRepo({})
  const opened = openRepo(repo.dir, { env: repo.env })
  await opened.start({ task: 'T1' })
  await opened.checkpoint({ task: 'T1' })
  await opened.close()
  const ports = compose({ env: repo.env })
  onTestFinished(() => ports.close())
  const found = await requireTask(ports, repo.dir, 'T1')
  const [first] = await ports.vault.readSteps(found.repo, found.task)
  if (!first) throw new Error('There is no step 0.')
  const scratch = tempFolder()
  let [inScratch, inCheckout] = [nothing, nothing]
  return {
    ports,
    ...found,
    first,
    /** The tree in the vault. */
    async keep(tree: Tree): Promise<string> {
      writeTree(scratch, inScratch, tree)
      inScratch = tree
      const taken = await ports.contents.take(found.repo, scratch, tree.keys())
      const leaves = new Map<string, Leaf | null>()
      for (const [file, there] of taken) leaves.set(file, there.kind === 'file' ? there.leaf : null)
      return ports.contents.change(found.repo, null, leaves)
    },
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
      if (withHead || layers.index !== layers.head) {
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

test('A1, A3: 1,000 plans of a patch are what the reference says', { timeout: 5 * minute }, async () => {
  const { ports, repo, task, first, keep, checkOut } = await planner()
  const seen = { landed: 0, refused: 0 }
  const property = fc.asyncProperty(baseTree, someEdits(5), userEdits, async (base, agent, edits) => {
    const theirs = edited(base, 'agnt', agent)
    const user = layersOf(base, edits)
    const expected = landedAsPatch({ base, theirs }, user, isIgnored)
    fc.pre(!('unsure' in expected))
    checkOut(user, false)
    const offer = {
      first,
      basis: first.tree,
      base: await keep(base),
      theirs: await keep(theirs),
      whole: true,
    }
    const plan = await planPatch(ports, repo, task, offer, false)
    if ('conflict' in expected) {
      expect(plan, `refused, because ${expected.conflict}`).not.toMatchObject({ conflicts: [] })
      seen.refused++
    } else if ('layers' in expected) {
      expect(plan.conflicts).toEqual([])
      expect(moved(listed(user.files), plan.files?.moves)).toEqual(listed(expected.layers.files))
      expect([plan.index, plan.refs]).toEqual([undefined, []])
      seen.landed++
    }
  })
  await fc.assert(property, { seed, numRuns: 1000 * runs })
  // Neither side of the property is empty.
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(100)
})

test('A2, A3: plans of commits are what the reference says', { timeout: 5 * minute }, async () => {
  const { ports, repo, task, first, keep, checkOut } = await planner()
  const seen = { landed: 0, refused: 0 }
  const property = fc.asyncProperty(baseTree, someEdits(4), userEdits, async (base, agent, edits) => {
    const theirs = edited(base, 'agnt', agent)
    const user = layersOf(base, edits)
    const expected = landedAsCommit([{ base, theirs }], user)
    fc.pre(!('unsure' in expected))
    checkOut(user, true)
    const offer = {
      first,
      basis: first.tree,
      base: await keep(base),
      theirs: await keep(theirs),
      whole: true,
    }
    const plan = await planCommit(ports, repo, task, offer, 'squash', { dir: repo.place.checkout ?? '', dryRun: true })
    if ('conflict' in expected) {
      expect(plan, `refused, because ${expected.conflict}`).not.toMatchObject({ conflicts: [] })
      seen.refused++
    } else if ('layers' in expected) {
      expect(plan.conflicts).toEqual([])
      expect(moved(listed(user.files), plan.files?.moves)).toEqual(listed(expected.layers.files))
      expect(moved(listed(user.index), plan.index?.moves)).toEqual(listed(expected.layers.index))
      seen.landed++
    }
  })
  await fc.assert(property, { seed, numRuns: 200 * runs })
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(10)
})
