/** One agent, one repository, one scripted model. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Emit } from '../../src/api/views.ts'
import type { OpenRepo } from '../../src/index.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library, withEnv } from '../support/workspace.ts'
import type { AgentUnderTest } from './agents-under-test.ts'
import { type Model, scriptedModel } from './model/server.ts'
import type { Turn } from './model/turn.ts'

export interface AgentFixture {
  readonly repo: TestRepo
  readonly lib: OpenRepo
  readonly model: Model
  readonly workspace: string
  readonly told: ({ event: string } & Record<string, unknown>)[]
  readonly emit: Emit
  /** `[tool, file, file …]` of each step. */
  steps(): Promise<string[][]>
}

/** The task T1 is there; `script` is handed the agent's own tools and the workspace. */
export async function agentFixture(
  agent: AgentUnderTest,
  programs: string,
  script: (tools: AgentUnderTest, at: (file: string) => string) => readonly Turn[],
): Promise<AgentFixture> {
  const plain = testRepo({ 'a.txt': 'one\n', 'README.md': 'readme\n' })
  const home = path.join(plain.home, 'user')
  // Agents leave things in the folder for temporary files.
  const TMPDIR = path.join(home, 'tmp')
  mkdirSync(TMPDIR, { recursive: true })
  const reach = { PATH: `${programs}:${plain.env.PATH}`, HOME: home, SHELL: '/bin/bash', TMPDIR }
  const before = withEnv(plain, reach)
  const { task } = await library(before).start({ task: 'T1' })
  const model = await scriptedModel(script(agent, (file) => path.join(task.path, file)))
  const repo = withEnv(before, agent.env(model.url, home))
  const lib = library(repo)
  const told: AgentFixture['told'] = []
  return {
    repo,
    lib,
    model,
    workspace: task.path,
    told,
    emit: (event) => void told.push(event),
    steps: async () =>
      (await lib.log('T1')).map(({ tool, files }) => [tool, ...files.map((file) => file.path).sort()]),
  }
}
