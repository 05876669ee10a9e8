/** The table of actions: every verb that a door offers, once. The command line, help, completion and `call` read it. */
import type { Action } from './action.ts'
import { health } from './health.ts'
import { land } from './land.ts'
import { look } from './look.ts'
import { setup } from './setup.ts'
import { token } from './token.ts'
import { work } from './work.ts'

const table = { ...work, ...look, ...land, ...health, ...setup, ...token }

export type ActionName = keyof typeof table

export const actions: Readonly<Record<ActionName, Action>> = table

/** Second names on the wire, for the plain worktree group. The table itself has each verb once. */
export const aliases = {
  'worktree.create': 'task.start',
  'worktree.show': 'task.show',
  'worktree.prune': 'task.prune',
} as const satisfies Record<string, ActionName>
