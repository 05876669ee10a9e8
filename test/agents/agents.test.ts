/** What every agent must do, played by the real ones against a scripted model. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findMarked } from '../../src/process/marked.ts'
import { until } from '../support/processes.ts'
import { agentsUnderTest } from './agents-under-test.ts'
import { install } from './install.ts'
import { agentFixture } from './agent-fixture.ts'

const go = { task: 'T1', create: true, prompt: 'Do what there is to do.' }

for (const underTest of agentsUnderTest) {
  const programs = install(underTest.package)
  const { names } = underTest
  const given = { ...go, agent: underTest.agent }
  if (programs === undefined)
    console.log(`skipped: the registry has no ${underTest.package.name}@${underTest.package.version}`)

  describe.skipIf(programs === undefined)(`${underTest.agent} ${underTest.package.version}`, () => {
    test('K1: each tool call is a step, with the name of the tool and its files', async () => {
      const { lib, emit, told, steps } = await agentFixture(underTest, programs!, (tools, at) => [
        { text: 'I will write a file.', tools: [tools.write(at('hello.txt'), 'hello\nworld\n')] },
        { text: 'Now an edit.', tools: [tools.edit(at('hello.txt'), 'world', 'there')] },
        { tools: [tools.shell('cat hello.txt && echo from-shell > b.txt')] },
        { text: 'All is done.' },
      ])
      const ran = await lib.run(given, { onEvent: emit })
      expect(ran).toMatchObject({
        agent: underTest.agent,
        task: { state: 'completed', agent: underTest.agent },
        strays: [],
      })
      expect(await steps()).toEqual([
        [names.write, 'hello.txt'],
        [names.edit, 'hello.txt'],
        [names.shell, 'b.txt'],
      ])
      const texts = told.filter(({ event }) => event === 'message').map(({ text }) => text)
      expect(texts.join('')).toContain('All is done.')
      expect(ran.conversation).toBe(ran.task.conversation)
    })

    test('K3: tool calls of one turn keep apart what each of them did', async () => {
      const { lib, emit, steps } = await agentFixture(underTest, programs!, (tools, at) => [
        {
          tools: [
            tools.write(at('p1.txt'), '1\n'),
            tools.shell('sleep 0.3; echo a > a2.txt'),
            tools.shell('echo b1 > b1.txt; sleep 1; echo b2 > b2.txt'),
          ],
        },
        { text: 'Done.' },
      ])
      await lib.run(given, { onEvent: emit })
      if (underTest.batches) {
        const files = (await steps()).flatMap(([, ...some]) => some)
        return expect(files.sort()).toEqual(['a2.txt', 'b1.txt', 'b2.txt', 'p1.txt'])
      }
      expect(new Set((await steps()).map(String))).toEqual(
        new Set([`${names.write},p1.txt`, `${names.shell},a2.txt`, `${names.shell},b1.txt,b2.txt`]),
      )
    })

    test('K2: a tool that fails makes no step of its name; what it left is swept up', async () => {
      const { lib, emit, steps } = await agentFixture(underTest, programs!, (tools, at) => [
        { tools: [tools.shell('echo partial > part.txt; exit 3')] },
        { tools: [tools.edit(at('README.md'), 'not there', 'x')] },
        { tools: [tools.write(at('after.txt'), 'after\n')] },
        { text: 'Done.' },
      ])
      const ran = await lib.run(given, { onEvent: emit })
      expect(ran.task.state).toBe('completed')
      expect(await steps()).toEqual([
        ['sweep', 'part.txt'],
        [names.write, 'after.txt'],
      ])
    })

    test('G1: one that is cancelled leaves no process, and its work is saved', async () => {
      const { lib, emit, steps, told, workspace } = await agentFixture(underTest, programs!, (tools) => [
        { tools: [tools.shell('echo begin > long.txt; setsid sleep 600; echo end >> long.txt')] },
      ])
      const cancel = new AbortController()
      const running = lib.run(given, { signal: cancel.signal, onEvent: emit })
      const ended = expect(running).rejects.toMatchObject({ code: 'WT_021' })
      await untilWritten(path.join(workspace, 'long.txt'))
      const run = told.find(({ event }) => event === 'started')?.run as string
      expect(findMarked(run)).not.toEqual([])
      cancel.abort()
      await ended
      expect(findMarked(run)).toEqual([])
      expect(await steps()).toEqual([['sweep', 'long.txt']])
      expect(await lib.show('T1')).toMatchObject({ state: 'failed', reason: 'Cancelled.' })
    })

    test('G2: a follow-up goes on with the same conversation in the same workspace', async () => {
      const { lib, emit, steps, model, workspace } = await agentFixture(underTest, programs!, (tools, at) => [
        { tools: [tools.write(at('first.txt'), 'first\n')] },
        { text: 'The first part is done.' },
        { tools: [tools.shell('cat first.txt > second.txt')] },
        { text: 'The second part is done.' },
      ])
      const first = await lib.run(given, { onEvent: emit })
      const second = await lib.run({ ...given, prompt: 'Go on.', resume: true }, { onEvent: emit })
      expect(second.conversation).toBe(first.conversation)
      expect(readFileSync(path.join(workspace, 'second.txt'), 'utf8')).toBe('first\n')
      expect(await steps()).toEqual([
        [names.write, 'first.txt'],
        [names.shell, 'second.txt'],
      ])
      expect(JSON.stringify(model.asked.at(-1))).toContain('The first part is done.')
    })

    test('G19: each run has its own tokens, also one that goes on with a conversation', async () => {
      const { lib, emit } = await agentFixture(underTest, programs!, (tools, at) => [
        { tools: [tools.write(at('first.txt'), 'first\n')] },
        { text: 'The first part is done.' },
        { text: 'The second part is done.' },
      ])
      const first = await lib.run(given, { onEvent: emit })
      const second = await lib.run({ ...given, prompt: 'Go on.', resume: true }, { onEvent: emit })
      // Two answers of the model, then one.
      expect(first.task.lastRun).toMatchObject({ inputTokens: 20, outputTokens: 10 })
      expect(second.task.lastRun).toMatchObject({ inputTokens: 10, outputTokens: 5 })
      expect(second.task.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 })
      if (underTest.agent !== 'claude') return
      const [one, two] = [first.task.lastRun?.costUsd ?? 0, second.task.lastRun?.costUsd ?? 0]
      expect(two).toBeCloseTo(one / 2, 6)
      expect(one).toBeGreaterThan(0)
    })

    test('L8: an error of the model fails the run, with the reason', async () => {
      const { lib, emit } = await agentFixture(underTest, programs!, () => [
        { fail: { status: 400, message: 'The model is out to lunch.' } },
      ])
      await expect(lib.run(given, { onEvent: emit })).rejects.toMatchObject({ code: 'WT_018' })
      const task = await lib.show('T1')
      expect(task.state).toBe('failed')
      expect(task.reason).toContain('out to lunch')
    })

    test('G1: a connection that breaks off is tried again, and nothing is done twice', async () => {
      const { lib, emit, steps } = await agentFixture(underTest, programs!, (tools) => [
        {
          text: 'Once, and only once, I will run a command.',
          drop: true,
          tools: [tools.shell('echo x >> once.txt')],
        },
        { text: 'Done.' },
      ])
      const ran = await lib.run(given, { onEvent: emit })
      expect(ran.task.state).toBe('completed')
      expect(await steps()).toEqual([[names.shell, 'once.txt']])
    })

    test('G6: it finds the commands that were put into its workspace', async () => {
      const { lib, emit, model } = await agentFixture(underTest, programs!, () => [{ text: 'Done.' }])
      await lib.install({ task: 'T1' })
      await lib.run({ ...given, prompt: underTest.slash ?? given.prompt }, { onEvent: emit })
      const handed = underTest.slash === undefined ? 'session-status' : 'Run `offshoot show`'
      expect(JSON.stringify(model.asked)).toContain(handed)
      expect(await lib.log('T1')).toEqual([])
    })

    test('G3: strict denies what is not allowed before it runs, and the run goes on', async () => {
      const { lib, emit, steps, told, model, workspace } = await agentFixture(
        underTest,
        programs!,
        (tools, at) => [
          { tools: [tools.shell('echo no > forbidden.txt')] },
          { tools: [tools.write(at('allowed.txt'), 'yes\n')] },
          { text: 'Done.' },
        ],
      )
      const strict = { ...given, policy: 'strict' as const, allowed: ['Read', 'Edit'] }
      expect(await lib.run(strict, { onEvent: emit })).toMatchObject({ task: { state: 'completed' } })
      expect(existsSync(path.join(workspace, 'forbidden.txt'))).toBe(false)
      expect(await steps()).toEqual([[names.write, 'allowed.txt']])
      const decided = told.filter(({ event }) => event === 'decided')
      expect(decided.map(({ tool, allow }) => [tool, allow])).toEqual([
        [names.shell, false],
        [names.write, true],
      ])
      expect(JSON.stringify(model.asked.at(-1))).toContain('is not among the allowed tools')
    })
  })
}

/** An agent may take long to come to it. */
async function untilWritten(file: string): Promise<void> {
  for (let tries = 0; !existsSync(file) && tries < 10; tries++)
    await until(() => existsSync(file), `${file} is there`).catch(() => {})
}
