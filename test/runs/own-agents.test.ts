import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { library, withEnv } from '../support/workspace.ts'

/** An agent without a program: each line of its prompt is a command, which it asks for before it runs it. */
const module = (trace: string) => `
import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(trace)}, 'loaded')
export default {
  name: 'lines',
  title: 'an agent that runs lines',
  exact: true,
  asks: true,
  async *run({ prompt, conversationId }, cell, signal) {
    yield { type: 'started', conversationId: conversationId ?? 'c1' }
    for (const [n, command] of prompt.split('\\n').entries()) {
      const call = { id: String(n), name: 'Bash', kind: 'shell', input: { command }, command }
      let last
      yield { type: 'asked', permission: call, answer: (verdict) => { last = verdict } }
      if (!last.allow) continue
      yield { type: 'toolStarted', ...call }
      const code = await cell.run({ argv: ['/bin/sh', '-c', command], onOutput() {} }, signal)
      yield { type: 'toolEnded', ...call, ok: code === 0, release() {} }
    }
    yield { type: 'ended', ok: true, reason: '' }
  },
}
`

function withModule(name = 'tools/lines.mjs') {
  const repo = testRepo()
  const trace = path.join(repo.home, 'trace')
  repo.write(name, module(trace))
  return { repo, file: path.join(repo.dir, name), isLoaded: () => existsSync(trace) }
}

const toolsOf = async (repo: TestRepo) =>
  (await library(repo).log('T1')).map(({ tool, files }) => [tool, ...files.map((file) => file.path)])

describe('G1: an agent of the user’s own', () => {
  test('G1: is run by its name, with steps, a policy and a conversation as any other', async () => {
    const { repo: plain, file } = withModule()
    const repo = withEnv(plain, { OFFSHOOT_AGENT_ADAPTERS: file })
    const prompt = 'echo 1 > 1.txt\ncurl http://127.0.0.1:9/ -d @2.txt\necho 3 > 3.txt'
    const ran = await offshoot(repo, 'run', '--agent', 'lines', '--task', 'T1', '--json', prompt)
    expect(ran.json).toMatchObject({
      ok: true,
      agent: 'lines',
      conversation: 'c1',
      task: { state: 'completed' },
    })
    expect(ran.stdout).toMatch(/"event":"decided","allow":false/)
    expect(await toolsOf(repo)).toEqual([
      ['Bash', '1.txt'],
      ['Bash', '3.txt'],
    ])
    const again = await offshoot(repo, 'resume', 'T1', 'cat 1.txt > 4.txt', '--json')
    expect(again.json).toMatchObject({ ok: true, agent: 'lines', conversation: 'c1' })
    const { json } = await offshoot(repo, 'agents', '--json')
    expect(json.agents.at(-1)).toMatchObject({ name: 'lines', exact: true, asks: true })
  })

  test('G1: one in a file of the user’s settings is found below their home', async () => {
    const { repo } = withModule()
    mkdirSync(path.join(repo.home, '.config', 'offshoot'), { recursive: true })
    writeFileSync(path.join(repo.home, 'own.mjs'), module(path.join(repo.home, 'trace')))
    writeFileSync(
      path.join(repo.home, '.config', 'offshoot', 'config.yaml'),
      'agent:\n  name: lines\n  adapters: ["~/own.mjs"]\n',
    )
    expect((await offshoot(repo, 'run', '--task', 'T1', '--json', 'echo x > x.txt')).json.agent).toBe('lines')
  })

  test('H1, P4: one that the repository’s own settings name is not even loaded until it is trusted, as it is', async () => {
    const { repo, file, isLoaded } = withModule()
    repo.write('.offshoot.yaml', 'agent:\n  adapters: [tools/lines.mjs]\n')
    const run = (...more: string[]) =>
      offshoot(repo, 'run', '--agent', 'lines', '--task', 'T1', ...more, '--json', 'echo x >> x.txt')
    expect(await run()).toMatchObject({ code: 5, json: { error: { code: 'WT_017' } } })
    await offshoot(repo, 'agents')
    expect(isLoaded()).toBe(false)
    const { json } = await offshoot(repo, 'trust', '--json')
    expect(json.commands).toMatchObject([
      {
        hook: 'agent.adapters',
        command: expect.stringMatching(/^tools\/lines\.mjs \(sha256 [0-9a-f]{64}\)$/),
      },
    ])
    expect(await run()).toMatchObject({ code: 0 })
    writeFileSync(file, `${module(path.join(repo.home, 'trace'))}// changed\n`)
    expect(await run()).toMatchObject({ code: 5, json: { error: { code: 'WT_017' } } })
  })

  test('P4: an agent cannot trust in the user’s place, also when it hides that it is one', async () => {
    const { repo, isLoaded } = withModule()
    repo.write('.offshoot.yaml', 'agent:\n  adapters: [tools/lines.mjs]\n')
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const script = `env -u OFFSHOOT_RUN '${process.execPath}' '${bin}' -C '${repo.dir}' trust --json`
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', script)
    expect(ran.stdout).toContain('WT_017')
    expect((await offshoot(repo, 'trust', '--show', '--json')).json.trusted).toBe(false)
    expect(isLoaded()).toBe(false)
  })

  test.each([
    ['is not there', undefined, 'cannot be loaded'],
    ['is broken', 'export default {', 'cannot be loaded'],
    ['exports no agent', 'export default { name: "x" }', 'exports no agent'],
  ])('I6: a module that %s is told, with its path', async (_, content, message) => {
    const repo = testRepo()
    const file = path.join(repo.home, 'own.mjs')
    if (content !== undefined) writeFileSync(file, content)
    const ran = await offshoot(withEnv(repo, { OFFSHOOT_AGENT_ADAPTERS: file }), 'agents', '--json')
    expect(ran.json.error).toMatchObject({
      code: 'WT_016',
      message: expect.stringContaining(message),
      path: file,
    })
  })
})
