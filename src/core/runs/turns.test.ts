import { expect, test } from 'vitest'
import type { AgentEvent } from '../model/agent.ts'
import { turnCounter } from './turns.ts'

const call = { name: 'Write', kind: 'edit', input: {} } as const
const said: AgentEvent = { type: 'message', text: 'So.' }
const started: AgentEvent = { type: 'toolStarted', ...call }
const ended: AgentEvent = { type: 'toolEnded', ...call, ok: true, release: () => {} }
const over: AgentEvent = { type: 'ended', ok: true, reason: '' }

test('G1: words and the tools after them are one answer; what follows a tool or a prompt is the next', () => {
  const count = turnCounter()
  const counts = [said, started, ended, started, started, ended, said, over, said].map(count)
  expect(counts).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 4])
})
