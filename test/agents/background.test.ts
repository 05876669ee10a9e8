/** Commands that go on after their call was answered: they hold nobody, and what they write later is theirs. */
import { describe, expect, test } from 'vitest'
import { agentFixture, type AgentFixture } from './agent-fixture.ts'
import { type AgentUnderTest, agentsUnderTest } from './agents-under-test.ts'
import { install } from './install.ts'
import type { ScriptedCall } from './model/turn.ts'

interface Background {
  readonly agent: string
  /** A command that the agent answers at once. */
  inBackground(tools: AgentUnderTest, command: string): ScriptedCall
}

const agents: readonly Background[] = [
  {
    agent: 'claude',
    inBackground: (tools, command) => {
      const { name, input } = tools.shell(command)
      return { name, input: { ...(input as object), run_in_background: true } }
    },
  },
  {
    agent: 'codex',
    inBackground: (_, cmd) => ({ name: 'exec_command', input: { cmd, yield_time_ms: 250 } }),
  },
]

/** `[tool, summary, files, summaries of all calls]` of each step. */
async function named({ lib }: AgentFixture) {
  return (await lib.log('T1')).map(({ tool, summary, files, calls }) => [
    tool,
    summary,
    files.map((file) => file.path).join(),
    calls.map((call) => call.summary),
  ])
}

for (const { agent, inBackground } of agents) {
  const underTest = agentsUnderTest.find((one) => one.agent === agent)!
  const programs = install(underTest.package)
  const go = { task: 'T1', create: true, agent, prompt: 'Do what there is to do.' }

  describe.skipIf(programs === undefined)(`${agent} ${underTest.package.version}`, () => {
    test('K13: a command in the background holds nobody, and what it writes is a step that names it', async () => {
      const late = 'until [ -e go ]; do sleep 0.1; done; echo late > late.txt; rm go; touch done'
      const fixture = await agentFixture(underTest, programs!, (tools) => [
        { tools: [inBackground(tools, late)] },
        { tools: [tools.shell('echo other > other.txt')] },
        {
          tools: [
            tools.shell('touch go; until [ -e done ]; do sleep 0.1; done; rm done; echo last > last.txt'),
          ],
        },
        { text: 'Done.' },
      ])
      await fixture.lib.run(go, { onEvent: fixture.emit })
      const steps = await named(fixture)
      const other = steps.find(([, , files]) => String(files).includes('other.txt'))
      expect(other).toEqual([underTest.names.shell, 'echo other > other.txt', 'other.txt', expect.anything()])
      const holding = steps.find(([, , files]) => String(files).includes('late.txt'))
      expect(holding?.[3]).toContainEqual(late)
    })
  })
}
