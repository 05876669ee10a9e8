/** Our agents as they are where the user trusts the settings of a workspace. */
import { claude } from '../../src/agents/claude.ts'
import { codex } from '../../src/agents/codex.ts'
import { gemini } from '../../src/agents/gemini.ts'
import { opencode } from '../../src/agents/opencode.ts'
import type { Agent } from '../../src/index.ts'

export const trusting: readonly Agent[] = [claude, codex, gemini, opencode].map((agent) => ({
  ...agent,
  obeys: [],
}))
