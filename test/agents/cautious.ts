/** Our agents as they are in a folder whose settings nobody can trust. */
import { claude } from '../../src/agents/claude.ts'
import { codex } from '../../src/agents/codex.ts'
import { gemini } from '../../src/agents/gemini.ts'
import { opencode } from '../../src/agents/opencode.ts'
import type { Agent } from '../../src/index.ts'

export const cautious: readonly Agent[] = [claude, codex, gemini, opencode].map((agent) => ({
  ...agent,
  obeys: [],
  run: (input, cell, signal) => agent.run({ ...input, projectSettings: false }, cell, signal),
}))
