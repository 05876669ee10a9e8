/** Actions that make tasks and work in them. */
import { isolations } from '../core/model/enums.ts'
import type { Action } from './action.ts'
import { base, command, conversing, prompt, task } from './options.ts'

export const work = {
  'task.start': {
    summary: 'Start a task in a workspace of its own, or continue the open task of that id',
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
        help: 'the branch, tag or commit to start from (default: HEAD)',
      },
      branch: { type: 'text', value: 'NAME', help: 'the name of the new branch' },
      existingBranch: {
        type: 'text',
        value: 'NAME',
        suggests: 'branches',
        help: 'work on an existing branch, which is never moved or deleted',
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
        help: 'start from the checkout as it is, with uncommitted and untracked files',
      },
      title: { type: 'text', value: 'TEXT', help: 'what the task is about' },
      base: { ...base, flag: null },
      group: { type: 'text', flag: null, help: 'an id shared by the tasks of one prompt' },
    },
  },
  'task.run': {
    summary: 'Run an agent or any command in a task of its own, with a step per tool call',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    makesTask: 'whenMissing',
    args: [{ option: 'prompt' }],
    options: {
      task: { ...task, help: 'the task; it is started if there is none' },
      create: { type: 'boolean', required: true, flag: null, help: 'start the task if there is none' },
      command,
      prompt,
      ...conversing,
      resume: {
        type: 'text',
        value: '[ID]',
        bare: true,
        help: 'continue the last conversation of the task, or the one with that id',
      },
      base,
    },
  },
  'task.stop': {
    summary: 'Stop the agent of a task; its work is kept',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.checkpoint': {
    summary: 'Record the workspace as a step, unless nothing has changed',
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
      ignored: { type: 'boolean', flag: null, help: 'also list the ignored files that are not in the step' },
    },
  },
  'task.rewind': {
    summary: 'Put the workspace back to an earlier step; its present state is recorded first',
    group: 'work',
    scope: 'run',
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      to: { type: 'number', required: true, value: 'N', help: 'the step; 0 is the start' },
      force: { type: 'boolean', help: 'also while an agent is running' },
    },
  },
  'system.direct': {
    summary: 'Run an agent or any command outside of a repository, if the settings allow it',
    group: 'work',
    scope: 'run',
    options: { command, prompt, ...conversing },
  },
} as const satisfies Record<string, Action>
