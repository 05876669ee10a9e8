import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { thisMachine } from '../../../test/contracts/sandbox.machine.ts'
import { tempFolder } from '../../../test/support/repo.ts'
import { none } from '../../sandbox/none.ts'
import type { Agent } from '../ports/agent.ts'
import type { AgentEvent, Permission } from '../model/agent.ts'
import type { RunTold } from './attend.ts'
import { converse } from './loop.ts'
import { type Limits, type LimitsUsed, useLimits } from './turns.ts'

const unlimited = { timeMinutes: 0, turns: 0 }
const bash = { name: 'Bash', kind: 'shell', input: {}, command: 'ls' } as const

/** Has an agent that says just this, without a task; `folder` is what it made in its cell. */
async function conversation(
  say: () => Iterable<AgentEvent>,
  limits: Partial<LimitsUsed> & Limits = unlimited,
) {
  const workspace = tempFolder()
  const cell = await none.open(thisMachine(workspace), { workspace, env: {} })
  const folder = await cell.makeRunFolder()
  const agent: Agent = {
    name: 'scripted',
    title: 'A script',
    exact: true,
    asks: true,
    async *run() {
      yield* say()
    },
  }
  const told: RunTold[] = []
  const verdict: Permission = { allow: false, reason: 'no' }
  const attended = {
    workspace,
    tell: (event: RunTold) => void told.push(event),
    permit: async () => verdict,
  }
  const handed = { prompt: '', terminal: false, projectSettings: false }
  const conversed = converse(
    agent,
    handed,
    cell,
    attended,
    { ...useLimits(limits), ...limits },
    new AbortController().signal,
  )
  return { conversed, told, folder, verdict }
}

test('an agent that says nothing of its end has failed, and its cell is closed', async () => {
  const { conversed, folder } = await conversation(() => [{ type: 'message', text: 'hello' }])
  expect(await conversed).toEqual({
    end: { ok: false, reason: 'scripted ended without a word' },
    conversation: undefined,
    cut: undefined,
  })
  expect(existsSync(folder)).toBe(false)
})

test('the cell is closed also when the agent breaks', async () => {
  const { conversed, folder } = await conversation(function* () {
    yield { type: 'message', text: 'hello' }
    throw new Error('broken')
  })
  await expect(conversed).rejects.toThrow('broken')
  expect(existsSync(folder)).toBe(false)
})

test('a conversation that is told twice is told on once', async () => {
  const started = { type: 'started', conversationId: 'c1' } as const
  const { conversed, told } = await conversation(() => [started, started])
  expect((await conversed).conversation).toBe('c1')
  expect(told).toEqual([{ event: 'conversation', conversation: 'c1' }])
})

test('a question is answered by the policy, and a tool released, before the agent goes on', async () => {
  const order: string[] = []
  const { conversed, verdict } = await conversation(function* () {
    let said: Permission | undefined
    yield { type: 'asked', permission: bash, answer: (answer) => void (said = answer) }
    order.push(said === verdict ? 'answered' : 'not answered')
    yield { type: 'toolEnded', ...bash, ok: true, release: () => void order.push('released') }
    order.push('went on')
    yield { type: 'ended', ok: true, reason: '' }
  })
  expect((await conversed).end).toMatchObject({ ok: true, reason: '' })
  expect(order).toEqual(['answered', 'released', 'went on'])
})

test('after the last turn the agent is left without an answer', async () => {
  const order: string[] = []
  const { conversed, folder } = await conversation(
    function* () {
      for (const turn of ['one', 'two']) {
        yield { type: 'toolStarted', ...bash }
        order.push(turn)
        yield { type: 'toolEnded', ...bash, ok: true, release: () => {} }
      }
    },
    { ...unlimited, turns: 1 },
  )
  expect((await conversed).cut).toBe('limits.turns: 1 answer is over')
  expect(order).toEqual(['one'])
  expect(existsSync(folder)).toBe(false)
})

test('the time is that of the run, not of each prompt: once it is over, the next prompt begins nothing', async () => {
  const used = useLimits({ timeMinutes: 0.0005, turns: 0 })
  await new Promise((resolve) => used.late?.addEventListener('abort', resolve))
  const { conversed, told } = await conversation(() => [{ type: 'message', text: 'hello' }], used)
  expect((await conversed).cut).toBe('limits.timeMinutes: 0.0005 minutes are over')
  expect(told).toEqual([])
})
