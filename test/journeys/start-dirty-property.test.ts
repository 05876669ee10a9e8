/** Random edits of a user before and after a start with `--dirty`, and of an agent in between. */
import { expect, test } from 'vitest'
import { readTree } from '../support/accept/disk.ts'
import { baseTree, edited, edits, isIgnored, looseEdits } from '../support/accept/edits.ts'
import { inParallel } from '../support/accept/parallel.ts'
import { type As, chosen, landed, part } from '../support/accept/parts.ts'
import { checkCase } from '../support/accept/check-case.ts'
import type { Layers } from '../support/accept/reference.ts'
import { changes, type Tree, without } from '../support/accept/tree.ts'
import { makeCaseRepo, stepsOf } from '../support/accept/case-repo.ts'
import { fc, repetitions } from '../support/random.ts'

const minute = 60_000
const uncommitted = fc.record({ staged: edits(3), loose: looseEdits(4) })

/** What the user has not committed on top of the base. */
function dirtied(
  base: Tree,
  { staged, loose }: { staged: Parameters<typeof edited>[2]; loose: Parameters<typeof edited>[2] },
): Layers {
  const index = edited(base, 'usrA', staged)
  return { head: base, index, files: edited(index, 'usrB', loose) }
}

test('P1, L13: 20 workspaces are the checkout as it was, which stays so, but for what is ignored', {
  timeout: 10 * minute,
}, async () => {
  await inParallel(20, makeCaseRepo, (caseRepo) =>
    fc.asyncProperty(baseTree, uncommitted, async (base, mine) => {
      const dirty = dirtied(base, mine)
      // Twice: the first start leaves the user's files as the second one finds them.
      const first = await caseRepo.work(base, [], dirty)
      const [before, indexFile] = [await caseRepo.state(), caseRepo.readIndexFile()]
      const { task } = await caseRepo.lib.start({ task: `${first.id}-again`, dirty: true })
      expect([await caseRepo.state(), caseRepo.readIndexFile()]).toEqual([
        { ...before, refs: expect.any(String) },
        indexFile,
      ])
      for (const { path } of [first, task]) expect(readTree(path)).toEqual(without(dirty.files, isIgnored))
      expect(task).toMatchObject({ base: { commit: (await caseRepo.git('rev-parse', 'HEAD')).trim() } })
      expect((await caseRepo.lib.show(task.id)).dirty).toBe(false)
      for (const { id } of [first, task]) await caseRepo.lib.remove({ task: id })
    }),
  )
})

const steps = fc.array(looseEdits(3), { minLength: 1, maxLength: 3 })
const strategy = fc.constantFrom<As>('patch', 'squash', 'merge', 'rebase')

test('A1 to A6, L13: 30 accepts land the agent’s part alone, and undo takes each back', {
  timeout: 10 * minute,
}, async () => {
  const seen = { landed: 0, refused: 0 }
  await inParallel(30, makeCaseRepo, (caseRepo) =>
    fc.asyncProperty(
      baseTree,
      uncommitted,
      steps,
      looseEdits(2),
      strategy,
      part,
      async (base, mine, agent, later, as, which) => {
        const dirty = dirtied(base, mine)
        const begun = without(dirty.files, isIgnored)
        const states = agent.map((_, n) => edited(begun, 'agnt', agent.slice(0, n + 1).flat()))
        const held = stepsOf(begun, states)
        fc.pre(held.length > 1 && changes(begun, held.at(-1) ?? begun).size > 0)
        const user = { ...dirty, files: edited(dirty.files, 'usrC', later) }
        const choice = chosen(held, which)
        const told = landed(held, user, as, choice)
        fc.pre(!('unsure' in told.expected))
        await checkCase(caseRepo, { base, dirty, states, user, as, choice, told })
        seen['layers' in told.expected ? 'landed' : 'refused']++
      },
    ),
  )
  expect(Math.min(seen.landed, seen.refused)).toBeGreaterThan(2 * repetitions)
})
