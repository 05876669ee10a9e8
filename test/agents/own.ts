/** An agent of a user's own, as a module that the settings name: Claude Code under another name. */
import { claude } from '../../src/agents/claude.ts'
import type { Agent } from '../../src/index.ts'

export const own: Agent = { ...claude, name: 'own', title: 'an agent of our own' }
