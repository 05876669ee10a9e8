/** The stream of Claude Code becomes events of a run. */
import { expect, test } from 'vitest'
import type { AgentEvent } from '../core/model/agent.ts'
import { sample as recorded } from '../../test/support/samples.ts'
import { claudeTalk } from './claude.ts'

/** The recorded output of Claude Code 2.1.325 for two prompts. */
const sample = recorded('claude')

type Answer = Extract<AgentEvent, { type: 'asked' }>['answer']

function talk(answer?: (give: Answer) => void) {
  const events: AgentEvent[] = []
  const written: Record<string, never>[] = []
  const stdin = { write: (text: string) => void written.push(JSON.parse(text) as never), end: () => {} }
  const push = (event: AgentEvent) => {
    events.push(event)
    if (event.type === 'asked') answer?.(event.answer)
  }
  return { events, written, talk: claudeTalk(push, stdin, '/workspace') }
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

test('G1: a call that Claude Code refuses itself is told, and has not run', () => {
  const { events, talk: read } = talk()
  const content = [{ ...result, is_error: true, content: '<tool_use_error>No such tool</tool_use_error>' }]
  read.read({ type: 'assistant', message: { content: [use] } })
  read.read({ type: 'user', message: { content } })
  expect(events).toMatchObject([{ type: 'toolEnded', id: 't1', ok: false, neverRan: true }])
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

const ask = (input: object) => ({
  type: 'control_request',
  request_id: 'r1',
  request: { subtype: 'hook_callback', input },
})

test('G17: a worktree that it asks for is the workspace', () => {
  const { written, talk: read } = talk()
  read.read(ask({ hook_event_name: 'WorktreeCreate', name: 'agent-1', cwd: '/checkout' }))
  expect(written).toMatchObject([
    {
      response: {
        response: { hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath: '/workspace' } },
      },
    },
  ])
})

test('G17: a subagent starts without the isolation that was asked for, and with all else', () => {
  const { written, talk: read } = talk((give) => give({ allow: true }))
  const tool_input = { prompt: 'Write.', subagent_type: 'x', isolation: 'worktree' }
  read.read(ask({ hook_event_name: 'PreToolUse', tool_name: 'Agent', tool_use_id: 't1', tool_input }))
  const updatedInput = { prompt: 'Write.', subagent_type: 'x' }
  expect(written).toMatchObject([
    { response: { response: { hookSpecificOutput: { permissionDecision: 'allow', updatedInput } } } },
  ])
  expect(JSON.stringify(written)).not.toContain('isolation')
})

test('K13: a command in the background goes on after its call, until it is no task any more', () => {
  const { events, talk: read } = talk()
  const tasks = (...ids: string[]) =>
    read.read({
      type: 'system',
      subtype: 'background_tasks_changed',
      tasks: ids.map((task_id) => ({ task_id })),
    })
  const post = (tool_use_id: string, backgroundTaskId?: string) =>
    read.read(
      ask({
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_use_id,
        tool_input: { command: 'make' },
        tool_response: { stdout: '', backgroundTaskId },
      }),
    )
  tasks('b1')
  post('t1', 'b1')
  post('t2')
  // This one had ended before its call was answered.
  post('t3', 'b2')
  tasks()
  expect(events).toMatchObject([
    { type: 'toolEnded', id: 't1', goesOn: true },
    { type: 'toolEnded', id: 't2', goesOn: false },
    { type: 'toolEnded', id: 't3', goesOn: false },
    { type: 'backgroundEnded', id: 't1' },
  ])
})

/** Reads a recording of Claude Code 2.1.325 in which everything was allowed. */
function replayed(name: string) {
  const heard = talk((give) => give({ allow: true }))
  for (const message of recorded(name)) heard.talk.read(message)
  const ended = heard.events.flatMap((event) =>
    event.type === 'toolEnded'
      ? [[event.name, event.neverRan === true ? 'never ran' : event.goesOn === true ? 'goes on' : event.ok]]
      : event.type === 'backgroundEnded'
        ? [['over']]
        : [],
  )
  return { ...heard, ended }
}

test('G1: of a recording, edits that do not fit and unknown tools are told as failed', () => {
  const { ended, events } = replayed('claude-refused')
  expect(ended).toEqual([
    ['Edit', 'never ran'],
    ['NoSuch', 'never ran'],
    ['Write', 'never ran'],
    ['Bash', false],
    ['Bash', false],
  ])
  expect(events.some(({ type }) => type === 'unasked')).toBe(false)
})

test('K13: of a recording, a command in the background ends after its call', () => {
  expect(replayed('claude-background').ended).toEqual([['Bash', 'goes on'], ['over'], ['Bash', true]])
})

test('L8: of a recording, an error of the model is the reason, and no message', () => {
  const { events, talk: read } = replayed('claude-api-error')
  expect(events.filter(({ type }) => type === 'message')).toEqual([])
  expect(read.end()).toEqual({ ok: false, reason: 'API Error: 400 The model is out to lunch.' })
})
