/** Options that several actions have in common. */
import { isolations, notifyWays, policyLevels } from '../core/model/enums.ts'
import type { Option } from './action.ts'

/** An id as it is in the records; nothing shorter stands for it. */
export const taskId: Option = { type: 'text', value: 'TASK', suggests: 'tasks', help: 'the task' }

export const task: Option = { ...taskId, names: 'task' }

export const dryRun: Option = { type: 'boolean', help: 'only show what would happen' }

export const keepBranch: Option = { type: 'boolean', help: 'keep the branch' }

export const conflicts: Option = {
  type: 'text',
  value: 'HOW',
  values: ['fail', 'markers'],
  noun: 'conflict handling',
  help: 'fail (default), or markers: write conflict markers into the files',
}

export const from: Option = {
  type: 'text',
  value: 'REV',
  suggests: 'branches',
  help: 'the branch, tag or commit to start from (default: HEAD)',
}

export const branch: Option = { type: 'text', value: 'NAME', help: 'the name of the new branch' }

export const isolation: Option = {
  type: 'text',
  value: 'KIND',
  values: isolations,
  noun: 'isolation',
  help: 'worktree (default), clone, or branch: in this checkout',
}

export const base: Option = {
  type: 'text',
  value: 'DIR',
  flag: 'worktree-dir',
  help: 'the folder for the workspace of a new task',
}

/** The limits of a conversation with an agent. */
export const conversing = {
  agent: {
    type: 'text',
    value: 'NAME',
    suggests: 'agents',
    help: 'the agent (default: agent.name, else the first installed)',
  },
  policy: {
    type: 'text',
    value: 'LEVEL',
    values: policyLevels,
    noun: 'policy',
    help: 'permissive, moderate or strict (default: policy.level)',
  },
  allowed: {
    type: 'text',
    many: true,
    value: 'TOOLS',
    flag: 'allowed-tools',
    help: 'allowed tools, comma-separated: Read,Edit,Bash(npm test *)',
  },
  denied: {
    type: 'text',
    many: true,
    value: 'TOOLS',
    flag: 'denied-tools',
    help: 'denied tools, comma-separated',
  },
  autoContinue: { type: 'boolean', help: 'never ask: a tool call that needs an answer is denied' },
  notify: {
    type: 'text',
    many: true,
    values: notifyWays,
    noun: 'notification',
    flag: null,
    help: 'how to tell the user that the run has ended or waits for an answer (default: notify.how)',
  },
} as const satisfies Readonly<Record<string, Option>>

export const command: Option = {
  type: 'text',
  many: true,
  flag: null,
  help: 'a command line to run instead of an agent',
}

export const prompt: Option = { type: 'text', value: 'PROMPT', flag: null, help: 'what the agent is to do' }
