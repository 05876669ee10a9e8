/** An agent over the Agent Client Protocol, against the scripted model: Gemini CLI speaks it too. */
import { expect, test } from 'vitest'
import { agentsUnderTest } from './agents-under-test.ts'
import { install } from './install.ts'
import { agentFixture } from './agent-fixture.ts'

const underTest = agentsUnderTest.find(({ agent }) => agent === 'gemini')!
const programs = install(underTest.package)
if (programs === undefined)
  console.log(`skipped: the registry has no ${underTest.package.name}@${underTest.package.version}`)

test.skipIf(programs === undefined)('G1: all that it does is in steps, and it ends', async () => {
  const { lib, emit, steps } = await agentFixture(underTest, programs!, (tools, at) => [
    { tools: [tools.write(at('hello.txt'), 'hello\n')] },
    { tools: [tools.shell('echo from-shell > b.txt')] },
    { text: 'All is done.' },
  ])
  const command = ['gemini', '--acp']
  const ran = await lib.run(
    { task: 'T1', create: true, agent: 'acp', prompt: 'Do it.', command },
    { onEvent: emit },
  )
  expect(ran).toMatchObject({ agent: 'acp', task: { state: 'completed', agent: 'acp' } })
  expect(ran.conversation).toBeTruthy()
  const files = (await steps()).flatMap(([, ...some]) => some)
  expect([...new Set(files)].sort()).toEqual(['b.txt', 'hello.txt'])
})
