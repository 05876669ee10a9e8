/** Actions that make tasks and work in them. */
import type { Isolation } from '../core/model/enums.ts'
import type { Action, Option } from './action.ts'
import { base, branch, command, conversing, from, isolation, prompt, task } from './options.ts'

/** What a run takes, whether a door waits for its end or leaves it to itself. */
const running = {
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
  askTimeout: {
    type: 'text',
    value: 'TIME',
    help: 'how long a question waits for offshoot answer: 30s, 10m, 2h (default: policy.askTimeout)',
  },
  base,
  from: { ...from, help: 'the branch, tag or commit that a new task starts from (default: HEAD)' },
  branch: { ...branch, help: 'the name of the branch of a new task' },
  isolation: { ...isolation, flag: null },
} as const satisfies Readonly<Record<string, Option>>

/** On a shadow branch the workspace is the checkout of the user. */
const shadowed = { isolation: 'branch' } as const satisfies Record<string, Isolation>

export const work = {
  'task.start': {
    summary: 'Start a task in a workspace of its own, or continue the open task of that id',
    group: 'work',
    scope: 'run',
    inCheckout: shadowed,
    writes: true,
    makes: true,
    revertsFirst: true,
    makesTask: 'always',
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      from,
      branch,
      existingBranch: {
        type: 'text',
        value: 'NAME',
        suggests: 'branches',
        help: 'work on an existing branch, which is never moved or deleted',
      },
      isolation,
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
    inCheckout: shadowed,
    destructive: true,
    writes: true,
    makes: true,
    revertsFirst: true,
    makesTask: 'whenMissing',
    args: [{ option: 'prompt' }],
    options: {
      ...running,
      entry: { type: 'text', flag: null, help: 'the place in the queue of a run that waited for this' },
    },
  },
  'task.detach': {
    summary:
      'Run an agent or any command in a process of its own, and answer as soon as it has begun or waits',
    group: 'work',
    scope: 'run',
    inCheckout: shadowed,
    destructive: true,
    writes: true,
    makes: true,
    revertsFirst: true,
    makesTask: 'whenMissing',
    command: 'run --detach',
    args: [{ option: 'prompt' }],
    options: {
      ...running,
      cleanup: { type: 'boolean', help: 'remove the workspace if the run succeeds; the branch stays' },
      priority: {
        type: 'number',
        value: 'N',
        help: 'in the queue of the daemon, a higher one starts first: -100 to 100 (default: 0)',
      },
      metadata: { type: 'text', flag: null, help: 'an object that the task keeps for you' },
    },
  },
  'task.plan': {
    summary: 'Check what runs would begin with, and answer their agents; nothing is made',
    group: 'work',
    scope: 'look',
    command: 'run',
    options: {
      agents: { type: 'text', many: true, flag: null, help: 'an agent for each run' },
      policy: conversing.policy,
      allowed: conversing.allowed,
      denied: conversing.denied,
    },
  },
  'task.answer': {
    summary: 'Answer the question of an agent that nobody was at a terminal for, or show it',
    group: 'work',
    scope: 'run',
    destructive: true,
    writes: true,
    args: [{ option: 'task', required: true }, { option: 'answer' }],
    options: {
      task: { ...task, flag: null },
      answer: {
        type: 'text',
        value: 'ANSWER',
        values: ['y', 'n', 'always'],
        noun: 'answer',
        flag: null,
        help: 'y: this once; always: this same call for the rest of the task; n: no',
      },
      question: { type: 'text', value: 'ID', help: 'answer only the question with that id' },
    },
  },
  'task.say': {
    summary: 'Send a message to the agent at work, which gets it when its turn is over',
    group: 'work',
    scope: 'run',
    writes: true,
    args: [
      { option: 'task', required: true },
      { option: 'text', required: true },
    ],
    options: {
      task: { ...task, flag: null },
      text: { type: 'text', value: 'TEXT', required: true, flag: null, help: 'the message' },
    },
  },
  'task.stop': {
    summary: 'Stop the agent of a task; its work is kept',
    group: 'work',
    scope: 'run',
    destructive: true,
    idempotent: true,
    writes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: { task: { ...task, flag: null } },
  },
  'task.checkpoint': {
    summary: 'Record the workspace as a step, unless nothing has changed',
    group: 'work',
    scope: 'run',
    idempotent: true,
    forAgent: 'own',
    writes: true,
    makes: true,
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
    destructive: true,
    writes: true,
    undoable: true,
    makes: true,
    revertsFirst: true,
    args: [{ option: 'task' }],
    options: {
      task: { ...task, flag: null },
      to: { type: 'number', required: true, value: 'N', help: 'the step; 0 is the start' },
      force: { type: 'boolean', help: 'also while an agent is running' },
    },
  },
  'system.direct': {
    summary: 'Run an agent or any command in the folder itself, if the user or the settings say so',
    group: 'work',
    // It changes the user's own files, as landing does.
    scope: 'land',
    destructive: true,
    writes: true,
    command: 'run',
    options: {
      command,
      prompt,
      ...conversing,
      isolation: {
        type: 'text',
        value: 'KIND',
        values: ['direct'],
        flag: null,
        help: 'direct: the user asks for it, whatever the settings say',
      },
    },
  },
} as const satisfies Record<string, Action>
