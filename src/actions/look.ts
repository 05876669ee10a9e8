/** Actions that only look. */
import { taskStates } from '../core/model/enums.ts'
import type { Action } from './action.ts'
import { task, taskId } from './options.ts'

export const look = {
  'task.list': {
    summary: 'List the open tasks of this repository',
    group: 'look',
    scope: 'look',
    forAgent: 'all',
    records: true,
    options: {
      all: { type: 'boolean', help: 'include closed tasks' },
      state: {
        type: 'text',
        value: 'STATE',
        values: taskStates,
        noun: 'state',
        help: 'only tasks in that state',
      },
    },
  },
  'worktree.list': {
    summary: 'List every worktree of this repository, as git does, each with its task',
    group: 'look',
    scope: 'look',
    forAgent: 'all',
    command: 'worktree list',
    options: { all: { type: 'boolean', help: 'include closed tasks in the JSON' } },
  },
  'task.show': {
    summary: 'Show one task: its workspace, last steps, files, and what its agent said',
    group: 'look',
    scope: 'look',
    forAgent: 'own',
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.find': {
    summary: 'Find a task by its id or its workspace, as of its last event',
    group: 'look',
    scope: 'look',
    forAgent: 'all',
    records: true,
    options: {
      task: taskId,
      path: { type: 'text', value: 'PATH', help: 'the folder of the workspace' },
    },
  },
  'task.exists': {
    summary: 'Answer whether there is an open task of that id',
    group: 'look',
    scope: 'look',
    forAgent: 'all',
    records: true,
    args: [{ option: 'task', required: true }],
    options: { task: { ...taskId, required: true } },
  },
  'task.log': {
    summary: 'List the steps of a task, or what its agents said',
    group: 'look',
    scope: 'look',
    forAgent: 'own',
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      agent: { type: 'boolean', help: 'what the agents said, tool by tool' },
    },
  },
  'task.attach': {
    summary: 'Follow the detached run of a task until it ends; the run goes on if you stop following',
    group: 'look',
    scope: 'look',
    forAgent: 'own',
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.diff': {
    summary: 'Show what a task, a step or a range of steps changed',
    group: 'look',
    scope: 'look',
    forAgent: 'own',
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      step: { type: 'text', value: 'N|N..M', help: 'one step, or from after step N to after step M' },
      format: {
        type: 'text',
        values: ['patch', 'stat', 'names'],
        noun: 'format',
        flag: null,
        help: 'a patch (default), files with their numbers of lines, or files',
      },
      binary: { type: 'boolean', help: 'binary files as a patch, instead of the line that they differ' },
      color: { type: 'boolean', flag: null, help: 'with git’s colours' },
      hunks: {
        type: 'boolean',
        help: 'list the hunks that are left to land, with the ids that accept --hunks takes',
      },
    },
  },
  'task.compare': {
    summary: 'Compare tasks: outcome, files, lines, time and common files',
    group: 'look',
    scope: 'look',
    args: [{ option: 'tasks', required: true }],
    options: {
      tasks: { ...task, many: true, required: true, flag: null, help: 'two tasks or more' },
      diff: { type: 'boolean', help: 'also print the difference between the first two' },
    },
  },
  'task.forecast': {
    summary: 'Forecast which tasks conflict, with what, and in which order to land them',
    group: 'look',
    scope: 'look',
    options: {
      after: {
        ...task,
        many: true,
        value: 'TASKS',
        help: 'as if these tasks had landed, comma-separated, in this order',
      },
    },
  },
  'system.ops': {
    summary: 'List the operations and which of them cannot be undone',
    group: 'look',
    scope: 'look',
    options: {},
  },
  'system.audit': {
    summary: 'Show the log of everything that offshoot did, or verify that log',
    group: 'look',
    scope: 'look',
    options: {
      verify: { type: 'boolean', help: 'verify that the entries form an unbroken chain' },
      // The log also has deleted tasks, which no other id may stand for.
      task: { ...task, names: 'wholeTask', help: 'only that task' },
      since: { type: 'text', value: 'WHEN', help: 'an age (3d, 12h) or a date (2026-11-15)' },
      failures: { type: 'boolean', help: 'only failures, rollbacks and automatic rejects' },
    },
  },
  'system.disk': {
    summary: 'Measure the disk use of a repository’s workspaces, vault, pool and trash',
    group: 'look',
    scope: 'look',
    options: { task: { ...task, help: 'only the workspace of this task' } },
  },
  'system.repos': {
    summary: 'List the repositories that offshoot knows',
    group: 'look',
    scope: 'look',
    options: {},
  },
  'system.queue': {
    summary: 'List the runs of all repositories that wait for their turn, and those at work',
    group: 'look',
    scope: 'look',
    command: 'daemon status',
    options: {},
  },
  'system.notices': {
    summary: 'Return each notice that the user has not been told yet, once',
    group: 'look',
    scope: 'look',
    forAgent: 'all',
    records: true,
    options: {},
  },
} as const satisfies Record<string, Action>
