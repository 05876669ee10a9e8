/** Claude Code's own worktrees: in a run there is one, the workspace. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AgentFixture, agentFixture } from './agent-fixture.ts'
import { agentsUnderTest } from './agents-under-test.ts'
import { install } from './install.ts'
import type { ScriptedCall, Turn } from './model/turn.ts'

const claude = agentsUnderTest.find(({ agent }) => agent === 'claude')!
const programs = install(claude.package)
const go = { task: 'T1', create: true, agent: 'claude', prompt: 'Do what there is to do.' }

/** The subagent writes a file in the folder that it finds itself in. */
const subagent = (input: object): ScriptedCall => ({
  name: 'Agent',
  input: { description: 'write', prompt: 'Write the file of the subagent.', ...input },
  subagent: [{ tools: [claude.shell('echo sub > sub.txt')] }, { text: 'I wrote it.' }],
})

async function refsAndFiles({ repo }: AgentFixture) {
  return {
    status: repo.git('status', '--porcelain'),
    refs: repo.git('for-each-ref', '--format=%(refname)', 'refs/heads').trim().split('\n'),
    worktrees: repo.git('worktree', 'list').trim().split('\n').length,
    own: existsSync(path.join(repo.dir, '.claude')),
  }
}

const untouched = {
  status: '',
  refs: ['refs/heads/main', 'refs/heads/offshoot/T1'],
  worktrees: 2,
  own: false,
}

async function played(turns: readonly Turn[], prepare: (fixture: AgentFixture) => void = () => {}) {
  const fixture = await agentFixture(claude, programs!, () => turns)
  prepare(fixture)
  const ran = await fixture.lib.run(go, { onEvent: fixture.emit })
  expect(ran).toMatchObject({ task: { state: 'completed' }, strays: [] })
  expect(await refsAndFiles(fixture)).toEqual(untouched)
  return fixture
}

async function landed({ lib, repo }: AgentFixture, file: string): Promise<string> {
  await lib.accept({ task: 'T1' })
  return readFileSync(path.join(repo.dir, file), 'utf8')
}

describe.skipIf(programs === undefined)(`claude ${claude.package.version}`, () => {
  test('G17: a subagent that asks for a worktree works in the workspace, and its work lands', async () => {
    const fixture = await played([
      { tools: [subagent({ subagent_type: 'general-purpose', isolation: 'worktree' })] },
      { text: 'Done.' },
    ])
    expect(await fixture.steps()).toEqual([['Bash', 'sub.txt']])
    expect(await landed(fixture, 'sub.txt')).toBe('sub\n')
  })

  test('G17: so does one whose definition asks for a worktree', async () => {
    const definition = '---\nname: apart\ndescription: works apart\nisolation: worktree\n---\nWork apart.\n'
    const turns = [{ tools: [subagent({ subagent_type: 'apart' })] }, { text: 'Done.' }]
    const fixture = await played(turns, ({ repo }) => {
      const folder = path.join(repo.env.HOME ?? '', '.claude', 'agents')
      mkdirSync(folder, { recursive: true })
      writeFileSync(path.join(folder, 'apart.md'), definition)
    })
    expect(await fixture.steps()).toEqual([['Bash', 'sub.txt']])
    expect(await landed(fixture, 'sub.txt')).toBe('sub\n')
  })

  test('G17: the agent is told that it has a worktree already, and what it would discard there is kept', async () => {
    const fixture = await played([
      { tools: [{ name: 'EnterWorktree', input: { name: 'apart' } }] },
      { tools: [claude.shell('echo own > own.txt')] },
      { tools: [{ name: 'ExitWorktree', input: { action: 'remove', discard_changes: true } }] },
      { text: 'Done.' },
    ])
    expect(JSON.stringify(fixture.model.asked.at(-1))).toContain('you are in a worktree of your own already')
    const decided = fixture.told.filter(({ event }) => event === 'decided')
    expect(decided.map(({ tool, allow }) => [tool, allow])).toEqual([
      ['EnterWorktree', false],
      ['Bash', true],
    ])
    expect(await fixture.steps()).toEqual([['Bash', 'own.txt']])
    expect(await landed(fixture, 'own.txt')).toBe('own\n')
  })
})
