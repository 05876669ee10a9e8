/** Actions that only look. */
import { taskStates } from '../core/model/enums.ts'
import type { Action } from './action.ts'
import { task } from './options.ts'

export const look = {
  'task.list': {
    summary: 'List the open tasks of this repository',
    group: 'look',
    scope: 'look',
    records: true,
    options: {
      all: { type: 'boolean', help: 'closed tasks too' },
      state: {
        type: 'text',
        value: 'STATE',
        values: taskStates,
        noun: 'state',
        help: 'only tasks in that state',
      },
    },
  },
  'task.show': {
    summary: 'Show one task, with a look at its workspace',
    group: 'look',
    scope: 'look',
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.find': {
    summary: 'Find a task by its id or its workspace, as of its last event',
    group: 'look',
    scope: 'look',
    records: true,
    options: {
      task,
      path: { type: 'text', value: 'PATH', help: 'the folder of the workspace' },
    },
  },
  'task.exists': {
    summary: 'Tell whether there is an open task of that id',
    group: 'look',
    scope: 'look',
    records: true,
    args: [{ option: 'task', required: true }],
    options: { task: { ...task, required: true } },
  },
  'task.log': {
    summary: 'List the steps of a task',
    group: 'look',
    scope: 'look',
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.diff': {
    summary: 'Show what a task, a step or a range of steps changed',
    group: 'look',
    scope: 'look',
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
      color: { type: 'boolean', flag: null, help: 'with the colours of git' },
      hunks: {
        type: 'boolean',
        help: 'the hunks that are left to land, by the ids that accept --hunks takes',
      },
    },
  },
  'task.compare': {
    summary: 'Put tasks side by side: outcome, files, lines, time, and what they have in common',
    group: 'look',
    scope: 'look',
    args: [{ option: 'tasks', required: true }],
    options: {
      tasks: { ...task, many: true, required: true, flag: null, help: 'two tasks or more' },
      diff: { type: 'boolean', help: 'also the difference between the first two' },
    },
  },
  'system.ops': {
    summary: 'List the operations, and which of them cannot be undone',
    group: 'look',
    scope: 'look',
    options: {},
  },
  'system.audit': {
    summary: 'Show what offshoot did, from a log that nothing changes; or check that log',
    group: 'look',
    scope: 'look',
    options: {
      verify: { type: 'boolean', help: 'check that no entry was changed, taken away or moved' },
      task: { ...task, help: 'only that task' },
      since: { type: 'text', value: 'WHEN', help: 'an age (3d, 12h) or a date (2026-11-15)' },
      failures: { type: 'boolean', help: 'only what failed, was taken back or was given up by itself' },
    },
  },
  'system.disk': {
    summary: 'Tell what workspaces, vault, pool and trash of a repository cost on the disk',
    group: 'look',
    scope: 'look',
    options: { task: { ...task, help: 'of the workspaces only that of this task' } },
  },
  'system.repos': {
    summary: 'List the repositories that offshoot knows',
    group: 'look',
    scope: 'look',
    options: {},
  },
  'system.notices': {
    summary: 'Tell once what happened by itself since the user was last told',
    group: 'look',
    scope: 'look',
    records: true,
    options: {},
  },
} as const satisfies Record<string, Action>
