/** What the recordings of each agent tell of tokens and costs. */
import * as protocol from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { agreeable, sample } from '../../test/support/samples.ts'
import { plus, type Usage, usedSince } from '../core/model/usage.ts'
import { acpTalk } from './acp.ts'
import { claudeTalk } from './claude.ts'
import { codexTalk } from './codex.ts'
import { geminiTalk } from './gemini.ts'
import { opencodeTalk } from './opencode.ts'

type Heard = ReturnType<typeof agreeable>

/** What was used in all, counted as a run counts. */
function usedIn({ events }: Heard): Usage | undefined {
  let used: Usage | undefined
  let totals = {}
  for (const event of events) {
    if (event.type !== 'usage') continue
    const since = usedSince(totals, event)
    used = plus(used, since.used)
    totals = since.totals
  }
  return used
}

const stdin = { write: () => {}, end: () => {} }
const talks = {
  claude: (heard: Heard) => claudeTalk(heard.push, stdin, '/w'),
  codex: (heard: Heard) => codexTalk(heard.push),
  gemini: (heard: Heard) => geminiTalk(heard.push),
  opencode: (heard: Heard) => opencodeTalk(heard.push),
}

test.each([
  // Two turns of one conversation: the second result has the costs of both.
  ['claude', { inputTokens: 40, outputTokens: 20, cachedTokens: 0, costUsd: 0.00056 }],
  ['codex', { inputTokens: 130, outputTokens: 35, cachedTokens: 0 }],
  ['gemini', { inputTokens: 130, outputTokens: 35, cachedTokens: 0 }],
  ['opencode', { inputTokens: 130, outputTokens: 35, cachedTokens: 0 }],
] as const)('G19: what the recording of %s tells is counted once', (name, used) => {
  const heard = agreeable()
  const talk = talks[name](heard)
  for (const message of sample(name)) talk.read(message)
  expect(usedIn(heard)).toEqual(used)
})

test('G19: over ACP, Gemini CLI tells its tokens, and any agent the costs of its session', async () => {
  const heard = agreeable()
  const sent: { id?: unknown; method?: string }[] = []
  const write = (text: string) => void sent.push(JSON.parse(text))
  const talk = acpTalk(protocol, heard.push, { write, end: () => {} })
  const over = talk.converse({ prompt: 'x', terminal: false, projectSettings: false }, { workspace: '/w' })
  const update = (amount: number, currency: string) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: 's',
      update: { sessionUpdate: 'usage_update', used: 1, size: 9, cost: { amount, currency } },
    },
  })
  const costs = [update(0.1, 'USD'), update(0.3, 'USD'), update(7, 'credits')]
  let answered = 0
  for (const message of [...costs, ...sample('acp')] as Record<string, unknown>[]) {
    if (!('result' in message)) {
      talk.read(message)
      continue
    }
    const asked = () => sent.filter(({ method }) => method !== undefined)[answered]
    while (!asked()) await new Promise((resolve) => setImmediate(resolve))
    talk.read({ ...message, id: asked()?.id })
    answered++
  }
  await over
  expect(usedIn(heard)).toEqual({ inputTokens: 130, outputTokens: 35, costUsd: 0.3 })
  talk.close()
})

test('G19: cached tokens are a part of the input, whichever way an agent counts', () => {
  const read = (name: keyof typeof talks, message: object) => {
    const heard = agreeable()
    talks[name](heard).read(message)
    return usedIn(heard)
  }
  const usage = { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 300 }
  const claude = { type: 'result', subtype: 'success', usage: { ...usage, output_tokens: 5 } }
  const codex = {
    type: 'turn.completed',
    usage: { input_tokens: 330, cached_input_tokens: 300, output_tokens: 5 },
  }
  const gemini = {
    type: 'result',
    status: 'success',
    stats: { input_tokens: 330, cached: 300, output_tokens: 5 },
  }
  const tokens = { input: 10, output: 4, reasoning: 1, cache: { write: 20, read: 300 } }
  const opencode = { type: 'step_finish', part: { tokens, cost: 0.5 } }
  const expected = { inputTokens: 330, outputTokens: 5, cachedTokens: 300 }
  expect(read('claude', claude)).toEqual(expected)
  expect(read('codex', codex)).toEqual(expected)
  expect(read('gemini', gemini)).toEqual(expected)
  expect(read('opencode', opencode)).toEqual({ ...expected, costUsd: 0.5 })
})
