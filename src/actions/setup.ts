/** Actions about settings and agents. */
import type { Action } from './action.ts'
import { agentNames, dryRun, task } from './options.ts'

export const setup = {
  'system.config': { summary: 'Show the settings', group: 'setup', scope: 'look', options: {} },
  'system.import': {
    summary: 'Take over what this repository tells other tools about setting a workspace up',
    group: 'setup',
    scope: 'admin',
    writes: true,
    forUser: 'config import',
    previews: 'dryRun',
    args: [{ option: 'file' }],
    options: {
      file: { type: 'text', value: 'FILE', flag: null, help: 'the file of the other tool' },
      dryRun,
    },
  },
  'system.trust': {
    summary: 'Let the commands of this repository’s own settings run, exactly as they are now',
    group: 'setup',
    scope: 'admin',
    writes: true,
    forUser: 'trust',
    previews: 'show',
    options: {
      show: { type: 'boolean', help: 'only show them' },
      revoke: { type: 'boolean', help: 'let none of them run any more' },
      ci: { type: 'boolean', help: 'also where nobody is there to look at them' },
    },
  },
  'system.agents': {
    summary: 'List the agents that can be run, and which are installed',
    group: 'setup',
    scope: 'look',
    options: {},
  },
  'task.install': {
    summary:
      'Give the agent in a workspace the commands /session-status, /accept-session and /reject-session',
    group: 'setup',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      agent: {
        type: 'text',
        value: 'NAME',
        suggests: agentNames,
        help: 'only for this one (default: for all that know such commands)',
      },
    },
  },
} as const satisfies Record<string, Action>
