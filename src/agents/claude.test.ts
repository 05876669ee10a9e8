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

type Answer = Extract<AgentEvent, { type: 'asked' }>['answer']

function talk(answer?: (give: Answer) => void) {
  const events: AgentEvent[] = []
  const written: Record<string, never>[] = []
  const stdin = { write: (text: string) => void written.push(JSON.parse(text) as never), end: () => {} }
  const push = (event: AgentEvent) => {
    events.push(event)
    if (event.type === 'asked') answer?.(event.answer)
  }
  return { events, written, talk: claudeTalk(push, stdin) }
}

test('G1: a talk becomes events, in its order', () => {
  const { events, talk: read } = talk((give) => give({ allow: true }))
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

const use = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make' } }
const result = { type: 'tool_result', tool_use_id: 't1' }

test.each([
  ['went well', { content: 'done' }],
  ['failed', { is_error: true, content: 'Exit code 1\nno' }],
])('H5: a command that %s without a question is told', (_, how) => {
  const { events, talk: read } = talk()
  read.read({ type: 'assistant', message: { content: [use] } })
  read.read({ type: 'user', message: { content: [{ ...result, ...how }] } })
  expect(events).toMatchObject([{ type: 'unasked', id: 't1', name: 'Bash', command: 'make' }])
})

test('H5: a call that was refused has not run', () => {
  const { events, talk: read } = talk()
  const content = [{ ...result, is_error: true, content: '<tool_use_error>No such tool</tool_use_error>' }]
  read.read({ type: 'assistant', message: { content: [use] } })
  read.read({ type: 'user', message: { content } })
  expect(events).toEqual([])
})

test('M5: a question that cannot be read is denied, and told', () => {
  const { events, written, talk: read } = talk()
  const request = { subtype: 'hook_callback', input: { hook_event_name: 'PreToolUse', tool_name: 7 } }
  read.read({ type: 'control_request', request_id: 'r1', request })
  expect(events).toEqual([{ type: 'malformed', reason: 'hook.tool_name is no string' }])
  const { response } = written[0] as unknown as { response: object }
  expect(response).toMatchObject({
    request_id: 'r1',
    response: { behavior: 'deny', hookSpecificOutput: { permissionDecision: 'deny' } },
  })
})
