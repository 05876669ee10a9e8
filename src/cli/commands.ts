/** Every command: its help, its options, and where its code is. One line each; the code is loaded when called. */
import type { Command, Option } from './command.ts'

const from: Option = {
  type: 'string',
  value: 'REV',
  help: 'branch, tag or commit to start from (default: HEAD)',
}
const newBranch: Option = { type: 'string', value: 'NAME', help: 'name of the new branch' }
const task: Option = { type: 'string', value: 'TASK', help: 'the task' }
const olderThan: Option = {
  type: 'string',
  value: 'AGE',
  help: 'not used for longer than this: 3d, 12h (default: prune.maxAgeDays)',
}

export const globalOptions: Readonly<Record<string, Option>> = {
  directory: { type: 'string', short: 'C', value: 'DIR', help: 'work as if started in DIR' },
  json: { type: 'boolean', help: 'answer with one JSON object' },
  quiet: { type: 'boolean', short: 'q', help: 'no progress' },
  verbose: { type: 'boolean', help: 'more about errors' },
  'no-color': { type: 'boolean', help: 'no colours' },
  help: { type: 'boolean', short: 'h', help: 'show help' },
}

export const commands: readonly Command[] = [
  {
    name: 'start',
    summary: 'Make a task and its workspace, or go on with the open task of that id',
    args: '[TASK]',
    takes: [0, 1],
    options: {
      from,
      branch: newBranch,
      'existing-branch': {
        type: 'string',
        value: 'NAME',
        help: 'work on a branch that is there; it is never moved or deleted',
      },
      isolation: { type: 'string', value: 'KIND', help: 'worktree (default)' },
      title: { type: 'string', value: 'TEXT', help: 'what the task is about' },
    },
    examples: [
      'offshoot start TASK-123',
      'offshoot start fix-login --from v2.1',
      'cd "$(offshoot cd TASK-123)"',
    ],
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'list',
    summary: 'List the open tasks of this repository',
    options: {
      all: { type: 'boolean', short: 'a', help: 'closed tasks too' },
      state: { type: 'string', value: 'STATE', help: 'only tasks in that state' },
    },
    examples: ['offshoot list', 'offshoot list --all --json'],
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'show',
    summary: 'Show one task, with a look at its workspace',
    args: '[TASK]',
    takes: [0, 1],
    completes: 'tasks',
    examples: ['offshoot show TASK-123', 'offshoot show TASK-123 --json'],
    load: async () => (await import('./commands/show.ts')).show,
  },
  {
    name: 'cd',
    summary: 'Print the path of a workspace; with shell integration, go there',
    args: '[TASK]',
    takes: [0, 1],
    completes: 'tasks',
    examples: ['cd "$(offshoot cd TASK-123)"', 'eval "$(offshoot completion bash)" && offshoot cd TASK-123'],
    load: async () => (await import('./commands/cd.ts')).cd,
  },
  {
    name: 'worktree create',
    summary: 'Make a task and its worktree',
    options: { task, from, branch: newBranch },
    examples: [
      'offshoot worktree create --task TASK-123',
      'offshoot worktree create --task T1 --branch feature/t1',
    ],
    load: async () => (await import('./commands/start.ts')).worktreeCreate,
  },
  {
    name: 'worktree list',
    summary: 'List worktrees with their tasks',
    options: { all: { type: 'boolean', short: 'a', help: 'removed ones too' } },
    examples: ['offshoot worktree list'],
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'worktree show',
    summary: 'Show the worktree of a task',
    options: { task },
    examples: ['offshoot worktree show --task TASK-123'],
    load: async () => (await import('./commands/show.ts')).worktreeShow,
  },
  {
    name: 'worktree remove',
    summary: 'Take a worktree, its branch and its registration away, into the trash',
    args: '[NAME]',
    takes: [0, 1],
    completes: 'tasks',
    options: {
      task,
      path: { type: 'string', value: 'PATH', help: 'the folder of the worktree' },
      force: { type: 'boolean', short: 'f', help: 'also with uncommitted changes' },
      'delete-branch': { type: 'boolean', help: 'delete the branch (default)' },
      'keep-branch': { type: 'boolean', help: 'keep the branch' },
    },
    examples: ['offshoot worktree remove --task TASK-123', 'offshoot worktree remove --path ~/wt/T1 --force'],
    load: async () => (await import('./commands/remove.ts')).worktreeRemove,
  },
  {
    name: 'worktree prune',
    summary: 'Tell which worktrees have not been used for long; removes nothing yet',
    options: {
      'older-than': olderThan,
      hours: { type: 'string', value: 'N', help: 'the same in hours' },
      'dry-run': { type: 'boolean', short: 'n', help: 'only tell (what it always does for now)' },
    },
    examples: ['offshoot worktree prune', 'offshoot worktree prune --older-than 3d --json'],
    load: async () => (await import('./commands/prune.ts')).worktreePrune,
  },
  {
    name: 'recover',
    summary: 'Finish or take back what died half-way',
    examples: ['offshoot recover'],
    load: async () => (await import('./commands/recover.ts')).recover,
  },
  {
    name: 'doctor',
    summary: 'Look at everything offshoot stands on, and mend nothing',
    examples: ['offshoot doctor', 'offshoot doctor --json'],
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'repos',
    summary: 'List the repositories that offshoot knows',
    examples: ['offshoot repos'],
    load: async () => (await import('./commands/repos.ts')).repos,
  },
  {
    name: 'config',
    summary: 'Show the settings',
    options: { 'show-origin': { type: 'boolean', help: 'where each value comes from' } },
    examples: ['offshoot config --show-origin', 'OFFSHOOT_LIMITS_PER_REPO=30 offshoot config'],
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    name: 'demo',
    summary: 'See it work, on a repository made for the occasion',
    examples: ['offshoot demo'],
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    name: 'completion',
    summary: 'Print shell completion and the integration that makes `offshoot cd` change folder',
    args: '<bash|zsh|fish>',
    takes: [1, 1],
    completes: ['bash', 'zsh', 'fish'],
    examples: ['eval "$(offshoot completion bash)"', 'offshoot completion fish | source'],
    load: async () => (await import('./commands/completion.ts')).completion,
  },
]
