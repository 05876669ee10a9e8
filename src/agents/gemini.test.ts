/** The stream and the hooks of Gemini CLI become events of a run. */
import { expect, test } from 'vitest'
import { agreeable, sample } from '../../test/support/samples.ts'
import { geminiTalk } from './gemini.ts'

test('G1: the stream of Gemini CLI 0.61.0 becomes words, a conversation and an end', () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  for (const message of sample('gemini')) talk.read(message)
  expect(heard.events[0]).toEqual({
    type: 'started',
    conversationId: 'e2856fd3-2e22-4351-bdc5-e158676d2721',
  })
  expect(heard.said()).toEqual(['I will write a file.', 'Now an edit.', 'All three steps are done.'])
  expect(talk.end()).toEqual({ ok: true, reason: '' })
})

test('K1: its hooks become tool calls', async () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  for (const hook of sample('gemini-hooks')) expect(await talk.onHook(hook)).toEqual({})
  expect(heard.ended()).toEqual([
    ['write_file', 'edit', true, 'hello.txt'],
    ['replace', 'edit', true, 'hello.txt'],
    ['run_shell_command', 'shell', true, 'cat hello.txt && echo from-bash > b.txt'],
  ])
})

const hook = (hook_event_name: string, command: string, llmContent = '') => ({
  hook_event_name,
  tool_name: 'run_shell_command',
  tool_input: { command },
  tool_response: { llmContent },
})

test('K3: calls that overlap end together, as one', async () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  await talk.onHook(hook('BeforeTool', 'a'))
  await talk.onHook(hook('BeforeTool', 'b'))
  await talk.onHook(hook('AfterTool', 'b'))
  expect(heard.ended()).toEqual([])
  await talk.onHook(hook('AfterTool', 'a'))
  expect(heard.ended()).toEqual([['run_shell_command', 'shell', true, 'b; a']])
})

test('K2: one that fails has failed; one that never says so is swept up with its turn', async () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  await talk.onHook(hook('BeforeTool', 'a'))
  await talk.onHook(hook('AfterTool', 'a', 'Exit Code: 3'))
  await talk.onHook(hook('BeforeTool', 'b'))
  talk.read({ type: 'tool_result', status: 'error' })
  expect(heard.ended().map(([, , ok]) => ok)).toEqual([false, false])
})

test('G1: of a recording, calls that Gemini CLI refuses itself are told as failed', () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  for (const message of sample('gemini-refused')) talk.read(message)
  const refused = heard.events.flatMap((event) =>
    event.type === 'toolEnded' && event.neverRan ? [[event.name, event.ok]] : [],
  )
  expect(refused).toEqual([
    ['write_file', false],
    ['no_such_tool', false],
  ])
})

test('K13: calls that end together are named one by one, with the ids of the stream', async () => {
  const heard = agreeable()
  const talk = geminiTalk(heard.push)
  for (const [id, command] of [
    ['one', 'a'],
    ['two', 'b'],
    ['three', 'b'],
  ])
    talk.read({ type: 'tool_use', tool_id: id, tool_name: 'run_shell_command', parameters: { command } })
  for (const command of ['a', 'b', 'b']) await talk.onHook(hook('BeforeTool', command))
  const hooks = ['b', 'a', 'b'].map((command) => talk.onHook(hook('AfterTool', command)))
  await Promise.all(hooks)
  const ended = heard.events.find((event) => event.type === 'toolEnded')
  expect(ended?.batch?.map(({ id, command }) => [id, command])).toEqual([
    ['two', 'b'],
    ['one', 'a'],
    ['three', 'b'],
  ])
})
