/** Actions that clean up, repair and check. */
import type { Action } from './action.ts'
import { dryRun, keepBranch, task } from './options.ts'

export const health = {
  'task.prune': {
    summary: 'Take away what has landed or has not been used for long, into the trash',
    group: 'health',
    scope: 'admin',
    writes: true,
    revertsFirst: true,
    forUser: 'prune',
    previews: 'dryRun',
    options: {
      olderThanMs: {
        type: 'number',
        value: 'AGE',
        flag: 'older-than',
        help: 'not used for longer than this: 3d, 12h (default: prune.maxAgeDays)',
      },
      dryRun,
      force: { type: 'boolean', help: 'also with uncommitted changes, which become a step first' },
    },
  },
  'worktree.remove': {
    summary: 'Take a worktree, its branch and its registration away, into the trash',
    group: 'health',
    scope: 'admin',
    writes: true,
    revertsFirst: true,
    forUser: 'worktree remove',
    args: [{ option: 'name' }],
    options: {
      name: {
        type: 'text',
        value: 'NAME',
        suggests: 'tasks',
        flag: null,
        help: 'the task, or the name of the folder',
      },
      task,
      path: { type: 'text', value: 'PATH', help: 'the folder of the worktree' },
      force: {
        type: 'boolean',
        help: 'also with uncommitted changes, or with an agent at work, which is ended first',
      },
      keepBranch,
    },
  },
  'task.repair': {
    summary: 'Repair what is gone or damaged: one workspace, or all that doctor finds',
    group: 'health',
    scope: 'admin',
    writes: true,
    recovers: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      rebuild: { type: 'boolean', help: 'bring lost records back from the vaults first' },
    },
  },
  'system.recover': {
    summary: 'Finish or take back what died half-way',
    group: 'health',
    scope: 'admin',
    options: {},
  },
  'system.doctor': {
    summary: 'Check everything and change nothing',
    group: 'health',
    scope: 'look',
    options: {},
  },
  'system.pool': {
    summary: 'Make workspaces ahead, so that the next start has nothing to wait for',
    group: 'health',
    scope: 'admin',
    writes: true,
    options: { clear: { type: 'boolean', help: 'make none, and take away those that are there' } },
  },
  'system.forget': {
    summary: 'Close every task of a repository into the trash, and list it no more',
    group: 'health',
    scope: 'admin',
    writes: true,
    forUser: 'repos forget',
    options: {},
  },
} as const satisfies Record<string, Action>
