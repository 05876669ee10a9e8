/** Actions that clean up, repair and check. */
import type { Action } from './action.ts'
import { dryRun, keepBranch, task } from './options.ts'

export const health = {
  'task.prune': {
    summary: 'Move tasks that have landed or are long unused into the trash',
    group: 'health',
    scope: 'admin',
    writes: true,
    undoable: true,
    revertsFirst: true,
    previews: 'dryRun',
    options: {
      olderThanMs: {
        type: 'number',
        value: 'AGE',
        flag: 'older-than',
        help: 'unused for longer than this: 3d, 12h (default: prune.maxAgeDays)',
      },
      dryRun,
      force: { type: 'boolean', help: 'also tasks with uncommitted changes, which become a step first' },
      keepBranches: { type: 'boolean', help: 'keep their branches (default: prune.keepBranches)' },
    },
  },
  'worktree.remove': {
    summary: 'Move a worktree into the trash, with its branch and registration',
    group: 'health',
    scope: 'admin',
    writes: true,
    undoable: true,
    revertsFirst: true,
    command: 'worktree remove',
    args: [{ option: 'name' }],
    options: {
      name: {
        type: 'text',
        value: 'NAME',
        suggests: 'tasks',
        names: 'wholeTask',
        flag: null,
        help: 'the task, or the name of the folder',
      },
      // Scripts that clean up call it, as they call git worktree remove, which takes whole names.
      task: { ...task, names: 'wholeTask' },
      path: { type: 'text', value: 'PATH', help: 'the folder of the worktree' },
      force: {
        type: 'boolean',
        help: 'also with uncommitted changes, or with a running agent, which is stopped first',
      },
      keepBranch,
    },
  },
  'task.repair': {
    summary: 'Repair one workspace, or everything that doctor finds missing or damaged',
    group: 'health',
    scope: 'admin',
    writes: true,
    recovers: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      rebuild: { type: 'boolean', help: 'rebuild lost records from the vaults first' },
    },
  },
  'system.recover': {
    summary: 'Finish or roll back commands that were killed half-way',
    group: 'health',
    scope: 'admin',
    options: {},
  },
  'system.doctor': {
    summary: 'Check everything and change nothing',
    group: 'health',
    scope: 'look',
    forAgent: 'all',
    options: {},
  },
  'system.orphans': {
    summary: 'List worktrees and folders that belong to no open task, and those that an open task misses',
    group: 'health',
    scope: 'look',
    forAgent: 'all',
    command: 'doctor --orphans',
    options: {},
  },
  'system.pool': {
    summary: 'Make workspaces ahead, so that the next start need not wait',
    group: 'health',
    scope: 'admin',
    writes: true,
    makes: true,
    options: { clear: { type: 'boolean', help: 'remove those that are there, and make none' } },
  },
  'system.forget': {
    summary: 'Move every task of a repository into the trash and stop listing it',
    group: 'health',
    scope: 'admin',
    writes: true,
    command: 'repos forget',
    options: {},
  },
} as const satisfies Record<string, Action>
