/** The ACP door, driven by the protocol's own client over stdio: a session is a task. */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { methods, type SessionUpdate } from '@agentclientprotocol/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Choose, openEditor, type TestEditor } from '../support/acp.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'

async function opened(repo: TestRepo, words: readonly string[] = [], choose?: Choose): Promise<TestEditor> {
  const editor = await openEditor(repo, { words, ...(choose && { choose }) })
  onTestFinished(async () => {
    killHard(editor.pid)
    await editor.leave()
  })
  return editor
}

const tasksIn = async (repo: TestRepo) => (await offshoot(repo, 'list', '--json')).json.tasks
const isCall = (update: SessionUpdate) =>
  update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update'

/** The states of each call, in order, by its title. */
function callsOf(updates: readonly SessionUpdate[]) {
  const titles = new Map<string, string>()
  const states = new Map<string, string[]>()
  for (const update of updates.filter(isCall)) {
    if (update.sessionUpdate === 'tool_call') titles.set(update.toolCallId, update.title)
    const title = titles.get(update.toolCallId) ?? 'unknown'
    states.set(title, [...(states.get(title) ?? []), ...(update.status ? [update.status] : [])])
  }
  return Object.fromEntries(states)
}

/** A command that the policy `moderate` asks about. */
const command = 'echo yes > asked.txt'
const asking = ['--policy', 'moderate']

describe('E1: a session', () => {
  test('E1: is a task, and a prompt runs the configured agent in its workspace', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    expect(editor.initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'offshoot' },
      agentCapabilities: { loadSession: true },
    })
    const session = await editor.open()
    const [task] = await tasksIn(repo)
    expect(task).toMatchObject({ uid: session, state: 'active', runs: 0 })
    const todos = [{ content: 'write', status: 'in_progress', activeForm: 'Writing' }]
    const prompt = play(
      { use: 'TodoWrite', input: { todos } },
      { say: 'I begin.', write: 'one.txt' },
      { sh: 'echo two > two.txt' },
      { say: 'I am done.' },
    )
    expect(await editor.prompt(session, prompt)).toBe('end_turn')
    expect(callsOf(editor.updates(session))).toMatchObject({
      'one.txt': expect.arrayContaining(['in_progress', 'completed']),
      'echo two > two.txt': expect.arrayContaining(['in_progress', 'completed']),
    })
    const steps = editor.updates(session).flatMap((one) => ('locations' in one ? [one] : []))
    expect(steps).toMatchObject([
      {
        locations: [{ path: path.join(task.path, 'one.txt') }],
        content: [{ content: { text: 'step 1: one.txt' } }],
      },
      { locations: [{ path: path.join(task.path, 'two.txt') }] },
    ])
    expect(editor.text(session)).toMatch(/^I begin\.\s+I am done\.[\s\S]*2 steps, 2 files, \+2 -0/)
    expect(editor.text(session)).toMatch(new RegExp(`offshoot accept ${task.id}\`.*$`))
    expect(editor.updates(session)).toContainEqual({
      sessionUpdate: 'plan',
      entries: [{ content: 'write', priority: 'medium', status: 'in_progress' }],
    })
    expect(existsSync(path.join(repo.dir, 'one.txt'))).toBe(false)
    expect(await offshoot(repo, 'accept', task.id)).toMatchObject({ code: 0 })
    expect(existsSync(path.join(repo.dir, 'two.txt'))).toBe(true)
    expect(editor.said()).toBe('')
  })

  test('E1: goes on with the conversation at the next prompt, and calls of two turns have ids of their own', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const session = await editor.open()
    await editor.prompt(session, play({ write: 'one.txt' }))
    const [before] = await tasksIn(repo)
    await editor.prompt(session, play({ sh: 'cat one.txt > two.txt' }))
    const [after] = await tasksIn(repo)
    expect(after).toMatchObject({ runs: 2, checkpoints: 2, conversation: before.conversation })
    const ids = editor
      .updates(session)
      .flatMap((one) => (one.sessionUpdate === 'tool_call' ? [one.toolCallId] : []))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('E1: a prompt names files of the checkout, and the agent is told of those in its workspace', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const sessionId = await editor.open()
    const uri = pathToFileURL(path.join(repo.dir, 'a.txt')).href
    const prompt = [
      { type: 'text' as const, text: '[{"sh": "echo ' },
      { type: 'resource_link' as const, uri, name: 'a.txt' },
      { type: 'text' as const, text: ' > named.txt"}]' },
    ]
    await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt })
    expect(callsOf(editor.updates(sessionId))).toHaveProperty(['echo @a.txt > named.txt'])
    const image = [{ type: 'image' as const, data: '', mimeType: 'image/png' }]
    await expect(
      editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: image }),
    ).rejects.toMatchObject({ code: -32602 })
  })

  test('E1: two sessions work side by side, each in its own workspace', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const [one, two] = [await editor.open(), await editor.open()]
    await Promise.all([
      editor.prompt(one, play({ write: 'x.txt' })),
      editor.prompt(two, play({ write: 'y.txt' })),
    ])
    expect(callsOf(editor.updates(one))).not.toHaveProperty(['y.txt'])
    expect(await tasksIn(repo)).toMatchObject([{ checkpoints: 1 }, { checkpoints: 1 }])
  })
})

describe('E2: a permission', () => {
  test('E2: is asked of the client with all of the call; allowed once, it is asked again', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo, asking, () => 'once')
    const session = await editor.open()
    expect(await editor.prompt(session, play({ sh: command }, { sh: command }))).toBe('end_turn')
    expect(editor.questions).toHaveLength(2)
    expect(editor.questions[0]).toMatchObject({
      sessionId: session,
      toolCall: { title: command, kind: 'execute', rawInput: { command: command } },
      options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
    })
    const known = editor.updates(session).filter(isCall)
    expect(known.some(({ toolCallId }) => toolCallId === editor.questions[0]?.toolCall.toolCallId)).toBe(true)
  })

  test('E2: allowed for the task, it is asked once', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo, asking, () => 'always')
    const session = await editor.open()
    await editor.prompt(session, play({ sh: command }, { sh: command }))
    expect(editor.questions).toHaveLength(1)
  })

  test.each(['deny', 'cancelled'])('E2: %s: the tool does not run, and the agent goes on', async (said) => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo, asking, () => said)
    const session = await editor.open()
    expect(await editor.prompt(session, play({ sh: command }, { write: 'after.txt' }))).toBe('end_turn')
    const [task] = await tasksIn(repo)
    expect([
      existsSync(path.join(task.path, 'asked.txt')),
      existsSync(path.join(task.path, 'after.txt')),
    ]).toEqual([false, true])
    expect(callsOf(editor.updates(session))[command]?.at(-1)).toBe('failed')
    const { events } = (await offshoot(repo, 'audit', '--json')).json
    expect(events.filter(({ what }: { what: string }) => what === 'run.decided')).toMatchObject([
      { by: 'user' },
      { by: 'policy' },
    ])
  })

  test('E2: what the policy allows or forbids is not asked', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const session = await editor.open()
    await editor.prompt(session, play({ sh: command }, { sh: 'git push origin main' }))
    expect(editor.questions).toEqual([])
    expect(callsOf(editor.updates(session))['git push origin main']?.at(-1)).toBe('failed')
  })
})

describe('E3: a cancel', () => {
  /** A prompt whose command says that it is at work, and then waits. */
  const waits = (repo: TestRepo) => {
    const ready = path.join(repo.home, 'ready')
    return { ready, prompt: play({ write: 'half.txt' }, { sh: `touch '${ready}'; sleep 600` }) }
  }

  test('E3: ends the run as Ctrl-C does, and its work is kept', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const session = await editor.open()
    const { ready, prompt } = waits(repo)
    const turn = editor.prompt(session, prompt)
    await until(() => existsSync(ready), 'the agent is at work')
    await expect(editor.prompt(session, play())).rejects.toMatchObject({ code: -32600 })
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: session })
    expect(await turn).toBe('cancelled')
    const [task] = await tasksIn(repo)
    expect(task).toMatchObject({ state: 'failed', checkpoints: 1 })
    expect(task).not.toHaveProperty('running')
    expect(await editor.prompt(session, play({ sh: 'cat half.txt > whole.txt' }))).toBe('end_turn')
  })

  test('E3: while a question is open, it is denied', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo, asking, () => new Promise(() => {}))
    const session = await editor.open()
    const turn = editor.prompt(session, play({ sh: command }))
    await until(() => editor.questions.length > 0, 'it was asked')
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: session })
    expect(await turn).toBe('cancelled')
    const [task] = await tasksIn(repo)
    expect(existsSync(path.join(task.path, 'asked.txt'))).toBe(false)
  })

  test('E3: an editor that leaves cancels what it began, and its unused session leaves no task', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const [used] = [await editor.open(), await editor.open()]
    const { ready, prompt } = waits(repo)
    editor.prompt(used, prompt).catch(() => {})
    await until(() => existsSync(ready), 'the agent is at work')
    expect(await editor.leave()).toBe(0)
    expect(isRunning(editor.pid)).toBe(false)
    expect(await tasksIn(repo)).toMatchObject([{ uid: used, state: 'failed', checkpoints: 1 }])
  })

  test('E3: a session that is closed in the middle of a turn cancels it', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const sessionId = await editor.open()
    const { ready, prompt } = waits(repo)
    const turn = editor.prompt(sessionId, prompt)
    await until(() => existsSync(ready), 'the agent is at work')
    await editor.agent.request(methods.agent.session.close, { sessionId })
    expect(await turn).toBe('cancelled')
    expect(await tasksIn(repo)).toMatchObject([{ uid: sessionId, state: 'failed', checkpoints: 1 }])
  })

  test('E3: a session that is closed is gone, and one in which a file was written keeps its task', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const [empty, written] = [await editor.open(), await editor.open()]
    const task = (await tasksIn(repo)).find(({ uid }: { uid: string }) => uid === written)
    writeFileSync(path.join(task.path, 'mine.txt'), 'mine\n')
    for (const sessionId of [empty, written])
      await editor.agent.request(methods.agent.session.close, { sessionId })
    await expect(editor.prompt(empty, play())).rejects.toMatchObject({ code: -32002 })
    expect(await tasksIn(repo)).toMatchObject([{ uid: written }])
  })
})

describe('E4: a session that is opened again', () => {
  test('E4: tells what was said and done, and goes on with the conversation', async () => {
    const repo = withStandIn(testRepo())
    const first = await opened(repo)
    const session = await first.open()
    const prompt = play({ say: 'I begin.', write: 'one.txt' }, { sh: command })
    await first.prompt(session, prompt)
    await first.leave()
    const [before] = await tasksIn(repo)

    const editor = await opened(repo)
    const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: repo.dir })
    expect(sessions).toMatchObject([{ sessionId: session, cwd: repo.dir }])
    await editor.agent.request(methods.agent.session.load, {
      sessionId: session,
      cwd: repo.dir,
      mcpServers: [],
    })
    const [said] = editor.updates(session)
    expect(said).toMatchObject({ sessionUpdate: 'user_message_chunk', content: { text: prompt } })
    expect(editor.text(session)).toContain('I begin.')
    expect(callsOf(editor.updates(session))['one.txt']?.at(-1)).toBe('completed')
    await editor.prompt(session, play({ sh: 'cat one.txt > two.txt' }))
    const [after] = await tasksIn(repo)
    expect(after).toMatchObject({ runs: 2, conversation: before.conversation })
  })

  test('E4: one that was accepted, or is of another repository, is not found', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const session = await editor.open()
    await editor.prompt(session, play({ write: 'one.txt' }))
    const [{ id }] = await tasksIn(repo)
    await offshoot(repo, 'accept', id)
    await offshoot(repo, 'start', id)
    await expect(editor.prompt(session, play())).rejects.toMatchObject({ code: -32002 })
    for (const cwd of [repo.dir, testRepo().dir])
      await expect(
        editor.agent.request(methods.agent.session.resume, { sessionId: session, cwd, mcpServers: [] }),
      ).rejects.toMatchObject({ code: -32002 })
  })
})

describe('E5: what goes wrong', () => {
  test('E5: is an error with our code and hint', async () => {
    const repo = withStandIn(testRepo())
    const editor = await opened(repo)
    const session = await editor.open()
    await expect(
      editor.prompt(session, play({ write: 'one.txt' }, { fail: 'gave up' })),
    ).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('gave up'),
      data: { code: 'WT_018', hint: expect.stringMatching(/./) },
    })
    expect(await tasksIn(repo)).toMatchObject([{ state: 'failed', checkpoints: 1 }])
    const start = (cwd: string) => editor.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
    await expect(start('/')).rejects.toMatchObject({ data: { code: 'WT_009' } })
    await expect(start('relative')).rejects.toMatchObject({ code: -32602 })
    await expect(editor.prompt('none', play())).rejects.toMatchObject({ code: -32002 })
  })

  test('E5: no program that offshoot runs reads or writes where the protocol is', async () => {
    const repo = withStandIn(testRepo({ 'a.txt': 'one\n' }))
    repo.env.OFFSHOOT_HOOKS_POST_START = 'echo from the hook; cat'
    const editor = await opened(repo)
    const session = await editor.open()
    expect(await editor.prompt(session, play({ sh: 'cat; echo hello' }))).toBe('end_turn')
  })

  test('E5: below the run of an agent, no session is made', async () => {
    const repo = withStandIn(testRepo())
    const { json } = await offshoot(repo, 'run', '--task', 'T1', '--json', '--', 'sh', '-c', 'env > env.txt')
    const editor = await opened({
      ...repo,
      env: { ...repo.env, OFFSHOOT_RUN: json.run },
    })
    await expect(editor.open()).rejects.toMatchObject({ data: { code: 'WT_017' } })
  })
})
