/** R11: work that only the vault has. */
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import { worked } from '../support/worked.ts'
import { library } from '../support/workspace.ts'

test('R11: a step that was never published has not landed, wherever the branch is', async () => {
  const { user, at } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
  user.git('merge', '-q', '--no-ff', '-m', 'Merge it', 'offshoot/T1')
  const unpublished: ComposeOptions['around'] = {
    vault: (vault) => ({ ...vault, publish: () => Promise.reject(new Error('not now')) }),
  }
  const repo = library(user, { around: unpublished })
  expect((await repo.show('T1')).landed).toBe(true)
  writeFileSync(at('g'), 'never published\n')
  await repo.checkpoint({ task: 'T1' }).catch(() => {})
  const shown = await repo.show('T1')
  expect([shown.checkpoints, shown.landed]).toEqual([2, false])
  const { stale } = await repo.prune({ dryRun: true })
  expect(stale).toEqual([])
})

test('R11: what is only in the workspace has not landed, wherever the branch is', async () => {
  const { user, repo, at } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
  user.git('merge', '-q', '--no-ff', '-m', 'Merge it', 'offshoot/T1')
  expect((await repo.show('T1')).landed).toBe(true)
  writeFileSync(at('g'), 'in no step\n')
  expect((await repo.show('T1')).landed).toBe(false)
})
