import { expect, test } from 'vitest'
import { agreeable, sample } from '../../test/support/samples.ts'
import { acpTalk } from './acp.ts'

/** What Gemini CLI 0.61.0 said over ACP; the answers to our requests are among it. */
async function replayed() {
  const heard = agreeable()
  const written: Record<string, unknown>[] = []
  const stdin = { write: (text: string) => void written.push(JSON.parse(text) as never), end: () => {} }
  const talk = acpTalk(heard.push, stdin)
  const over = talk.converse({ prompt: 'do it', terminal: false }, { workspace: '/w' })
  for (const message of sample('acp')) {
    talk.read(message)
    // An answer lets our next request go.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await over
  return { heard, written, talk }
}

test('G1: a talk over ACP becomes events', async () => {
  const { heard, talk } = await replayed()
  expect(heard.said().join('')).toContain('All three steps are done.')
  expect(heard.ended()).toEqual([
    ['edit', 'edit', true, '/REPO/wt-gem/hello.txt'],
    ['edit', 'edit', true, '/REPO/wt-gem/hello.txt'],
    ['execute', 'shell', true, 'cat hello.txt && echo from-bash > b.txt'],
  ])
  expect(talk.end()).toEqual({ ok: true, reason: '' })
})

test('G3: what it asks is answered with one of its own options', async () => {
  const { written } = await replayed()
  expect(written.map(({ method, result }) => method ?? result)).toEqual([
    'initialize',
    'session/new',
    'session/prompt',
    { outcome: { outcome: 'selected', optionId: 'proceed_once' } },
    { outcome: { outcome: 'selected', optionId: 'proceed_once' } },
  ])
})
