/** Actions about settings and agents. */
import type { Action } from './action.ts'
import { dryRun, task } from './options.ts'

export const setup = {
  'system.config': {
    summary: 'Show the settings',
    group: 'setup',
    scope: 'look',
    forAgent: 'all',
    options: {},
  },
  'system.import': {
    summary: 'Import the workspace setup that this repository has for Cursor, Codex or Conductor',
    group: 'setup',
    scope: 'admin',
    idempotent: true,
    writes: true,
    command: 'config import',
    previews: 'dryRun',
    args: [{ option: 'file' }],
    options: {
      file: { type: 'text', value: 'FILE', flag: null, help: 'the file of the other tool' },
      dryRun,
    },
  },
  'system.trust': {
    summary: 'Trust the settings of this repository that could run something, exactly as they are now',
    group: 'setup',
    scope: 'admin',
    destructive: true,
    idempotent: true,
    writes: true,
    previews: 'show',
    options: {
      show: { type: 'boolean', help: 'only show them' },
      revoke: { type: 'boolean', help: 'trust none of them any more' },
      ci: { type: 'boolean', help: 'trust them although nobody is there to read them, as in CI' },
      fingerprint: {
        type: 'text',
        flag: null,
        value: 'HASH',
        help: 'trust them only if they still have this fingerprint',
      },
    },
  },
  'system.agents': {
    summary: 'List the supported agents and which of them are installed',
    group: 'setup',
    scope: 'look',
    forAgent: 'all',
    options: {},
  },
  'task.install': {
    summary: 'Install the commands /session-status, /accept-session and /reject-session in a workspace',
    group: 'setup',
    scope: 'run',
    idempotent: true,
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      agent: {
        type: 'text',
        value: 'NAME',
        suggests: 'agents',
        help: 'only for this agent (default: for all that know such commands)',
      },
    },
  },
} as const satisfies Record<string, Action>
