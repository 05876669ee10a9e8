/** Actions that make tasks and work in them. */
import { isolations } from '../core/model/enums.ts'
import type { Action } from './action.ts'
import { base, command, conversing, prompt, task } from './options.ts'

export const work = {
  'task.start': {
    summary: 'Make a task and its workspace, or go on with the open task of that id',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    makesTask: 'always',
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      from: {
        type: 'text',
        value: 'REV',
        suggests: 'branches',
        help: 'branch, tag or commit to start from (default: HEAD)',
      },
      branch: { type: 'text', value: 'NAME', help: 'name of the new branch' },
      existingBranch: {
        type: 'text',
        value: 'NAME',
        suggests: 'branches',
        help: 'work on an existing branch; it is never moved or deleted',
      },
      isolation: {
        type: 'text',
        value: 'KIND',
        values: isolations,
        noun: 'isolation',
        help: 'worktree (default), clone, or branch: in this checkout',
      },
      dirty: {
        type: 'boolean',
        help: 'from the checkout as it is, uncommitted and untracked files included',
      },
      title: { type: 'text', value: 'TEXT', help: 'what the task is about' },
      base: { ...base, flag: null },
      group: { type: 'text', flag: null, help: 'an id shared by tasks that are made to do the same' },
    },
  },
  'task.run': {
    summary: 'Run an agent or any command in a task of its own, with a step for each tool call',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    makesTask: 'whenMissing',
    args: [{ option: 'prompt' }],
    options: {
      task: { ...task, help: 'the task; started if it is not there' },
      create: { type: 'boolean', required: true, flag: null, help: 'start the task if it is not there' },
      command,
      prompt,
      ...conversing,
      resume: {
        type: 'text',
        value: '[ID]',
        bare: true,
        help: 'go on with the last conversation of the task, or with the one of that id',
      },
      base,
    },
  },
  'task.stop': {
    summary: 'End the agent that is at work on a task; its work is kept',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.checkpoint': {
    summary: 'Take the workspace as it is: one step, unless nothing has changed',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      tool: { type: 'text', value: 'NAME', help: 'the tool that made the change' },
      summary: { type: 'text', value: 'TEXT', help: 'what it did' },
      run: { type: 'text', flag: null, help: 'the run that the step belongs to' },
      call: { type: 'text', flag: null, help: 'the agent’s own id of the tool call' },
      files: { type: 'text', many: true, flag: null, help: 'the only files that can have changed' },
      ignored: { type: 'boolean', flag: null, help: 'also tell which ignored files are not in the step' },
    },
  },
  'task.rewind': {
    summary: 'Put the workspace back to a step; what is there now is recorded first',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      to: { type: 'number', required: true, value: 'N', help: 'the step; 0 is the start' },
      force: { type: 'boolean', help: 'also while an agent is at work' },
    },
  },
  'system.direct': {
    summary: 'Run an agent or any command outside of a repository, if the settings allow it',
    group: 'work',
    scope: 'run',
    options: { command, prompt, ...conversing },
  },
} as const satisfies Record<string, Action>
