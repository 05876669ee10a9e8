/** Actions on the tokens that let other programs in. No agent may do any of them. */
import { scopes } from '../core/model/enums.ts'
import type { Action } from './action.ts'
import { task } from './options.ts'

export const token = {
  'token.create': {
    summary: 'Make a token that lets a program, or the agent of one task, use the daemon',
    group: 'setup',
    scope: 'admin',
    writes: true,
    command: 'token create',
    options: {
      scope: {
        type: 'text',
        value: 'SCOPE',
        values: scopes,
        noun: 'scope',
        help: 'look; run: also start and steer agents; land: also accept, reject, undo; admin: everything',
      },
      task: {
        ...task,
        help: 'for the agent of this task: it may look at its task, and tell you what it wants',
      },
      name: { type: 'text', value: 'NAME', help: 'what it is for' },
      days: { type: 'number', value: 'N', help: 'how long it is valid (default: 90)' },
    },
  },
  'token.list': {
    summary: 'List the tokens and the pages that can use the daemon',
    group: 'setup',
    scope: 'admin',
    command: 'token list',
    options: {},
  },
  'token.revoke': {
    summary: 'Revoke a token, which opens nothing from now on',
    group: 'setup',
    scope: 'admin',
    destructive: true,
    writes: true,
    command: 'token revoke',
    args: [{ option: 'id', required: true }],
    options: { id: { type: 'text', value: 'ID', required: true, flag: null, help: 'the id of the token' } },
  },
} as const satisfies Record<string, Action>
