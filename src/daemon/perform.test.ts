import { expect, test } from 'vitest'
import type { Caller } from '../api/caller.ts'
import type { Ports } from '../core/ports/index.ts'
import type { Once } from './once.ts'
import { openPerform, type Outcome } from './perform.ts'

/** What becomes of a request with a key: whether its answer is kept, or what refuses it. No port is there to do it. */
async function fate(caller: Caller, name: string, input: object): Promise<string> {
  let isKept = false
  const once: Once<Outcome> = {
    async answer() {
      isKept = true
      return { ok: true, output: {} }
    },
  }
  const credential = { id: 'aaaaaaaa', hash: '', expiresAt: '', kind: 'token', caller } as const
  const perform = openPerform({} as Ports, once, new AbortController().signal)
  const outcome = await perform({ credential, name, body: { repo: '/r', ...input }, key: 'k' })
  if (!outcome.ok && outcome.error.code === 'WT_017') return 'refused'
  return isKept ? 'kept' : 'not kept'
}

const token = (...scopes: ('look' | 'land')[]): Caller => ({ kind: 'token', scopes })

test('D6: only who may do it takes a place among the answers that are kept', async () => {
  const accept = { task: 'T1' }
  expect(await fate(token('land'), 'task.accept', accept)).toBe('kept')
  expect(await fate(token('look'), 'task.accept', accept)).toBe('refused')
  expect(await fate(token('look'), 'task.prune', { dryRun: true })).toBe('not kept')
  expect(await fate(token('look'), 'task.list', {})).toBe('not kept')
  expect(await fate({ kind: 'agent', task: 'u' }, 'task.accept', accept)).toBe('not kept')
  expect(await fate({ kind: 'agent', task: 'u' }, 'task.checkpoint', accept)).toBe('kept')
  expect(await fate(token('land'), 'system.direct', { command: ['true'] })).toBe('kept')
})
