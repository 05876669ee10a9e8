/** Which workspaces hold settings that an agent would obey. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { thisMachine } from '../../../test/contracts/sandbox.machine.ts'
import { tempFolder } from '../../../test/support/repo.ts'
import { claude } from '../../agents/claude.ts'
import type { Agent } from '../ports/agent.ts'
import { hasProjectSettings } from './project-settings.ts'

const cases: [name: string, files: string[], agent: Pick<Agent, 'obeys' | 'slash'>, found: boolean][] = [
  ['none', ['CLAUDE.md', 'src/.claude'], claude, false],
  ['a file', ['.mcp.json'], claude, true],
  ['a file in a folder', ['.claude/hooks/a.sh'], claude, true],
  ['a slash command of ours', ['.claude/skills/session-status/SKILL.md'], claude, false],
  [
    'a skill of theirs beside it',
    ['.claude/skills/session-status/SKILL.md', '.claude/skills/x/SKILL.md'],
    claude,
    true,
  ],
  ['settings of an agent that says nothing', ['.mcp.json'], {}, true],
  ['settings of an agent that obeys none', ['.mcp.json'], { obeys: [] }, false],
]

test.each(cases)('H5: a workspace with %s', async (_, names, agent, found) => {
  const workspace = tempFolder()
  for (const name of names) {
    mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true })
    writeFileSync(path.join(workspace, name), '')
  }
  const { files } = thisMachine(workspace)
  expect(await hasProjectSettings({ files, agents: [claude] }, agent, workspace)).toBe(found)
})
