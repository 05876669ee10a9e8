/** The list of agents. */
import type { Agent } from '../core/ports/agent.ts'
import { acp } from './acp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

/**
 * Every agent, in the order in which `run` looks for an installed one. A new agent is one file with an `Agent`, one
 * line here, and one row in test/agents/agents-under-test.ts, which runs the suite that all of them share.
 */
export const agents: readonly Agent[] = [claude, codex, opencode, gemini, acp, command]
