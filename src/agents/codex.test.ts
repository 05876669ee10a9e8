/** The stream and the hooks of Codex become events of a run. */
import { appendFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../test/support/repo.ts'
import { agreeable, sample } from '../../test/support/samples.ts'
import type { AgentEvent } from '../core/model/agent.ts'
import { codexTalk } from './codex.ts'

const said = ['I will add a file.', 'Now an edit.', 'All three steps are done.']

test('G1: the stream of Codex 0.166.0 becomes words, a conversation and an end', () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  for (const message of sample('codex')) talk.read(message)
  expect(heard.events[0]).toEqual({
    type: 'started',
    conversationId: '01a1e076-3192-7231-803f-7921fc1c2e3e',
  })
  expect(heard.said()).toEqual(said)
  expect(talk.end()).toEqual({ ok: true, reason: '' })
})

test('K1: its hooks become tool calls, with the files of a patch', async () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  for (const hook of sample('codex-hooks')) expect(await talk.onHook(hook)).toEqual({})
  expect(heard.ended()).toEqual([
    ['apply_patch', 'edit', true, 'hello.txt'],
    ['apply_patch', 'edit', true, 'hello.txt'],
    ['Bash', 'shell', true, 'cat hello.txt && echo from-bash > b.txt'],
  ])
})

const hook = (hook_event_name: string, tool_use_id: string, command: string) => ({
  hook_event_name,
  tool_name: 'Bash',
  tool_use_id,
  tool_input: { command },
})

test('K3: a second shell of one turn waits until the step of the first is taken', async () => {
  const events: AgentEvent[] = []
  const talk = codexTalk((event) => void events.push(event))
  const one = talk.onHook(hook('PreToolUse', '1', 'a'))
  const two = talk.onHook(hook('PreToolUse', '2', 'b'))
  const last = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return events.at(-1)
  }
  const first = await last()
  expect(first).toMatchObject({ type: 'asked', permission: { id: '1' } })
  if (first?.type === 'asked') first.answer({ allow: true })
  await one
  const over = talk.onHook(hook('PostToolUse', '1', 'a'))
  const ended = await last()
  expect(ended).toMatchObject({ type: 'toolEnded', id: '1' })
  if (ended?.type === 'toolEnded') ended.release()
  await over
  const second = await last()
  expect(second).toMatchObject({ type: 'asked', permission: { id: '2' } })
  if (second?.type === 'asked') second.answer({ allow: false, reason: 'no' })
  expect(await two).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
})

test('K2: a command that the stream calls failed has failed', async () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  const command = "/bin/bash -lc 'echo partial > part.txt; exit 3'"
  talk.read({ type: 'item.completed', item: { type: 'command_execution', command, exit_code: 3 } })
  await talk.onHook(hook('PostToolUse', '1', 'echo partial > part.txt; exit 3'))
  expect(heard.ended()).toEqual([['Bash', 'shell', false, 'echo partial > part.txt; exit 3']])
})

/** A transcript with the given lines, and hooks that name it. */
function transcript(...lines: object[]) {
  const file = path.join(tempFolder(), 'rollout.jsonl')
  const add = (...more: object[]) => more.forEach((line) => appendFileSync(file, `${JSON.stringify(line)}\n`))
  writeFileSync(file, '')
  add(...lines)
  return {
    add,
    pre: (id: string, command: string) => ({ ...hook('PreToolUse', id, command), transcript_path: file }),
  }
}

const answer = (call_id: string) => ({
  type: 'response_item',
  payload: { type: 'function_call_output', call_id, output: 'Process running with session ID 1' },
})

const ended = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'toolEnded'
      ? [[event.id, event.goesOn ? 'goes on' : event.ok]]
      : event.type === 'backgroundEnded'
        ? [[event.id, 'over']]
        : [],
  )

const completed = (command: string, exit_code: number) => ({
  type: 'item.completed',
  item: { type: 'command_execution', command: `/bin/bash -lc '${command}'`, exit_code, status: 'completed' },
})

test('K13: a shell that was answered before it ended holds nobody, and its end is told', async () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  const { add, pre } = transcript(answer('0'))
  await talk.onHook(pre('1', 'serve'))
  const two = talk.onHook(pre('2', 'ls'))
  expect(ended(heard.events)).toEqual([])
  add(answer('1'))
  await two
  talk.read(completed('ls', 0))
  await talk.onHook(hook('PostToolUse', '2', 'ls'))
  talk.read(completed('serve', 0))
  expect(ended(heard.events)).toEqual([
    ['1', 'goes on'],
    ['2', true],
    ['1', 'over'],
  ])
})

test('K13: a shell that ended after its answer, and before the next call, has ended', async () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  const { add, pre } = transcript()
  await talk.onHook(pre('1', 'build'))
  add(answer('1'))
  talk.read(completed('build', 2))
  await talk.onHook(pre('2', 'ls'))
  expect(ended(heard.events)).toEqual([['1', false]])
})

test('K13: a shell that nothing follows goes on at the end of the turn', async () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  await talk.onHook(transcript().pre('1', 'serve'))
  talk.read({ type: 'turn.completed', usage: {} })
  expect(ended(heard.events)).toEqual([['1', 'goes on']])
})

test('L8: of a recording, an error of the model is told in words', () => {
  const heard = agreeable()
  const talk = codexTalk(heard.push)
  for (const message of sample('codex-api-error')) talk.read(message)
  expect(heard.said()).toEqual([])
  expect(talk.end()).toEqual({ ok: false, reason: 'The model is out to lunch.' })
})
