/** The stream of Claude Code becomes events of a run. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../core/model/agent.ts'
import { claudeTalk } from './claude.ts'

/** The recorded output of Claude Code 2.1.325 for two prompts. */
const sample = readFileSync(new URL('../../test/samples/claude.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as object)

function talk() {
  const events: AgentEvent[] = []
  const written: Record<string, never>[] = []
  const stdin = { write: (text: string) => void written.push(JSON.parse(text) as never), end: () => {} }
  return { events, written, talk: claudeTalk((event) => void events.push(event), stdin) }
}

test('G1: a talk becomes events, in its order', () => {
  const { events, talk: read } = talk()
  for (const message of sample) read.read(message)
  expect(events.map(({ type }) => type)).toEqual([
    ...'started message toolStarted asked asked toolEnded message usage'.split(' '),
    ...'started toolStarted asked asked toolEnded message usage'.split(' '),
  ])
  expect(events.find((event) => event.type === 'toolEnded')).toMatchObject({
    id: 'toolu_fake000152',
    name: 'Bash',
    kind: 'shell',
    command: 'echo asked > asked.txt',
    ok: true,
  })
  expect(read.end()).toEqual({ ok: true, reason: '' })
})

test('G3: the agent hears nothing before it is answered, and then exactly that', () => {
  const { events, written, talk: read } = talk()
  for (const message of sample.slice(0, 4)) read.read(message)
  const asked = events.find((event) => event.type === 'asked')
  expect(written).toEqual([])
  asked?.answer({ allow: false, reason: 'not now' })
  expect(written).toMatchObject([
    {
      type: 'control_response',
      response: {
        request_id: 'c1b89888-393f-4ae3-8c05-87ed7b27bef6',
        response: {
          hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not now' },
        },
      },
    },
  ])
})

test('L8: an error that comes as a success is a failure', () => {
  const { talk: read } = talk()
  read.read({ type: 'result', subtype: 'success', is_error: true, result: 'API Error: 529' })
  expect(read.end()).toEqual({ ok: false, reason: 'API Error: 529' })
})
