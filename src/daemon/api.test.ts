import { expect, test } from 'vitest'
import type { Caller } from '../api/caller.ts'
import type { Ports } from '../core/ports/index.ts'
import { jsonAnswer } from './answer.ts'
import { openApi } from './api.ts'
import type { HttpCall } from './http.ts'
import { openOnce } from './once.ts'

/** What becomes of a request with a key: whether its answer is kept, or what refuses it. No port is there to do it. */
async function fate(caller: Caller, action: string, input: object): Promise<string> {
  const never = new AbortController().signal
  const once = { ...openOnce(() => 0), answer: async () => jsonAnswer(200, { kept: true }) }
  const credential = { id: 'aaaaaaaa', hash: '', expiresAt: '', kind: 'token', caller } as const
  const call: HttpCall = {
    allowed: { ok: true, route: 'api', path: `/api/${action}`, credential },
    entrance: {} as HttpCall['entrance'],
    body: { repo: '/r', ...input },
    signal: never,
    header: () => 'k',
  }
  const { body } = await openApi({} as Ports, once, never)(call)
  return body.includes('"kept"') ? 'kept' : 'not kept'
}

const token = (...scopes: ('look' | 'land')[]): Caller => ({ kind: 'token', scopes })

test('D6: only who may do it takes a place among the answers that are kept', async () => {
  const accept = { task: 'T1' }
  expect(await fate(token('land'), 'task.accept', accept)).toBe('kept')
  await expect(fate(token('look'), 'task.accept', accept)).rejects.toMatchObject({ code: 'WT_017' })
  expect(await fate(token('look'), 'task.prune', { dryRun: true })).toBe('not kept')
  expect(await fate(token('look'), 'task.list', {})).toBe('not kept')
  expect(await fate({ kind: 'agent', task: 'u' }, 'task.accept', accept)).toBe('not kept')
  expect(await fate({ kind: 'agent', task: 'u' }, 'task.checkpoint', accept)).toBe('kept')
  expect(await fate(token('land'), 'system.direct', { command: ['true'] })).toBe('kept')
})
