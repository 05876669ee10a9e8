/** Actions that land work, discard it or undo either. */
import { strategies, strategyFacts } from '../core/model/strategies.ts'
import type { Action } from './action.ts'
import { conflicts, dryRun, keepBranch, task } from './options.ts'

export const land = {
  'task.accept': {
    summary: 'Land the work of a task, all or part of it',
    group: 'land',
    scope: 'land',
    destructive: true,
    writes: true,
    undoable: { except: { as: strategies.filter((name) => strategyFacts[name].final !== undefined) } },
    makes: true,
    revertsFirst: true,
    previews: 'dryRun',
    previewWrites: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      as: {
        type: 'text',
        value: 'HOW',
        values: strategies,
        noun: 'strategy',
        help: strategies.join(', ').replace(',', ' (default),'),
      },
      onto: {
        type: 'text',
        value: 'BRANCH',
        suggests: 'branches',
        help: 'the branch to commit on (default: the one the task started from)',
      },
      message: {
        type: 'text',
        value: 'TEXT',
        help: 'the commit message (default: accept.squashMessage, accept.mergeMessage)',
      },
      only: { type: 'text', many: true, value: 'PATH', help: 'only these paths; may be repeated' },
      steps: {
        type: 'number',
        many: true,
        value: 'N',
        flag: 'step',
        help: 'only these steps; may be repeated',
      },
      hunks: {
        type: 'text',
        many: true,
        flag: null,
        help: 'only these hunks, by the ids that task.diff lists',
      },
      withoutFailed: {
        type: 'boolean',
        help: 'leave out what failed tools left (default: accept.leftovers)',
      },
      conflicts: { ...conflicts, help: 'fail (default), or markers: write conflict markers into your files' },
      allow: { type: 'text', many: true, value: 'PATH', help: 'land this path even if it was flagged' },
      failOnRisk: {
        type: 'boolean',
        help: 'refuse (WT_017) what runs code later, is by another author or was left by a failed tool, for CI',
      },
      dryRun,
      keep: { type: 'boolean', help: 'keep the task open' },
      hooks: {
        type: 'boolean',
        help: 'run your repository’s hooks: commit-msg, post-commit, post-merge; pre-push for a pr',
      },
    },
  },
  'task.update': {
    summary: 'Merge the target branch into the workspace, to resolve conflicts there',
    group: 'land',
    scope: 'run',
    idempotent: true,
    writes: true,
    undoable: true,
    makes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      onto: {
        type: 'text',
        value: 'BRANCH',
        suggests: 'branches',
        help: 'the branch to merge (default: the one the task started from)',
      },
      dirty: { type: 'boolean', help: 'merge the checkout as it is, with uncommitted and untracked files' },
      conflicts: {
        ...conflicts,
        help: 'fail (default), or markers: write conflict markers into the workspace',
      },
    },
  },
  'task.reject': {
    summary: 'Discard the work of a task; undo brings it back',
    group: 'land',
    scope: 'land',
    destructive: true,
    writes: true,
    undoable: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      keepBranch,
      batch: {
        type: 'text',
        flag: null,
        help: 'the accept of a sibling that it belongs to: an undo takes both back',
      },
    },
  },
  'task.delete': {
    summary: 'Discard the work of a task and hide its record; undo brings both back',
    group: 'land',
    scope: 'land',
    destructive: true,
    writes: true,
    undoable: true,
    revertsFirst: true,
    args: [{ option: 'task', required: true }],
    options: { task: { ...task, flag: null } },
  },
  'system.undo': {
    summary: 'Undo the last operation or a named one; an undo can be undone too',
    group: 'land',
    scope: 'land',
    destructive: true,
    writes: true,
    undoable: true,
    makes: true,
    args: [{ option: 'operation' }],
    options: {
      operation: { type: 'text', value: 'OPERATION', flag: null, help: 'its id, or the beginning of it' },
    },
  },
} as const satisfies Record<string, Action>
