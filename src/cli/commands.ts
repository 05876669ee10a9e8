/**
 * Every command of the command line, grouped as `--help` shows them. Names, help and allowed values come from the table of actions;
 * this file adds the parts of the command line alone: its own flags, short flags, examples, and the file that prints.
 * Each row loads its file only when it is called (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md).
 */
import type { Action, Group, Option as Field } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { isolations, policyLevels, scopes } from '../core/model/enums.ts'
import type { Command, Option, Positional } from './command.ts'

interface Own
  extends Pick<Command, 'examples' | 'load'>,
    Partial<Pick<Command, 'summary' | 'args' | 'rest' | 'aliasOf' | 'options' | 'isForPrograms'>> {
  /** By the name of the flag. */
  readonly short?: Readonly<Record<string, string>>
  /** The fields of the action that get a flag here; by default all that can have one. */
  readonly only?: readonly string[]
}

/** A command that calls an action. Its arguments and flags are built lazily, because one run of the program needs those of one command only. */
function verb(name: string, action: ActionName, own: Own): Command {
  const { summary, group } = actions[action]
  return {
    name,
    summary,
    group,
    ...own,
    get args() {
      return own.args ?? positionalsOf(actions[action])
    },
    get options() {
      return { ...flagsOf(actions[action], own), ...own.options }
    },
  }
}

function positionalsOf({ args = [], options }: Action): Positional[] {
  return args.map(({ option, required }) => {
    const { value: name = '', values, noun, suggests } = options[option] ?? {}
    return { name, ...given({ required, values, noun, suggests }) }
  })
}

function flagsOf({ options }: Action, { short = {}, only }: Own): Record<string, Option> {
  const flags: Record<string, Option> = {}
  for (const [field, option] of Object.entries(options)) {
    if (option.flag === null || (only && !only.includes(field))) continue
    const flag = option.flag ?? kebab(field)
    flags[flag] = flagOf(option, short[flag])
  }
  return flags
}

/** A command that belongs to the command line alone. */
function command(name: string, group: Group, summary: string, own: Own): Command {
  return { name, group, summary, args: [], options: {}, ...own }
}

function flagOf({ type, many, help, value, values, noun, suggests, bare }: Field, short?: string): Option {
  return {
    type: type === 'boolean' ? 'boolean' : 'string',
    help,
    ...(many && { multiple: true }),
    ...given({ short, value, values, noun, suggests, bare }),
  }
}

/** Without the fields that are undefined. */
function given<T extends object>(all: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never
}

const kebab = (field: string) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const task: Option = { type: 'string', value: 'TASK', suggests: 'tasks', help: 'the task' }
const aTask: Positional = { name: 'TASK', suggests: 'tasks' }
const hours: Option = { type: 'string', value: 'N', help: 'the same as --older-than, in hours' }
const check: Option = {
  type: 'string',
  value: 'COMMAND',
  help: 'run this in each workspace and show whether it succeeds',
}

const conversation = ['agent', 'policy', 'allowed', 'denied', 'autoContinue', 'askTimeout']

const leaving: Readonly<Record<string, Option>> = {
  notify: {
    type: 'string',
    value: '[HOW]',
    bare: true,
    help: 'tell you when it ends or waits for an answer: bell, desktop, command (default: notify.how), none; alone: bell,desktop',
  },
  bell: { type: 'boolean', help: 'the same as --notify bell' },
  detach: {
    type: 'boolean',
    help: 'run in the background; offshoot attach follows it, offshoot stop ends it',
  },
  priority: {
    type: 'string',
    value: 'N',
    help: 'with --detach, in the queue of the daemon: a higher one starts first, -100 to 100 (default: 0)',
  },
}

const cleaning: Readonly<Record<string, Option>> = {
  cleanup: { type: 'boolean', help: 'remove the workspace if the run succeeds; the branch stays' },
  worktree: { type: 'boolean', help: 'no effect: every run has a worktree of its own' },
  'worktree-cleanup': { type: 'boolean', help: 'the same as --cleanup' },
}

const withoutTask: Option = {
  type: 'string',
  value: 'KIND',
  values: ['direct'],
  noun: 'isolation',
  help: 'direct: in this folder itself instead, without steps and undo',
}

const apart: Readonly<Record<string, Option>> = {
  isolation: {
    type: 'string',
    value: 'KIND',
    values: [...isolations, 'direct'],
    noun: 'isolation',
    help: 'worktree (default), clone, branch: in this checkout, or direct: in this folder, without steps and undo',
  },
}

const several: Readonly<Record<string, Option>> = {
  agents: {
    type: 'string',
    value: 'NAMES',
    help: 'give the prompt to several agents, comma-separated, each in its own task; then compare',
  },
  times: { type: 'string', value: 'N', help: 'run the prompt N times, each in its own task; then compare' },
  check,
}

export const commands: readonly Command[] = [
  verb('start', 'task.start', {
    examples: [
      'offshoot start TASK-123',
      'offshoot start TASK-123 --dirty',
      'offshoot start fix-login --from v2.1',
      'cd "$(offshoot cd TASK-123)"',
    ],
    load: async () => (await import('./commands/start.ts')).start,
  }),
  verb('run', 'task.run', {
    rest: '| -- COMMAND…',
    options: { ...apart, ...leaving, ...cleaning, ...several },
    examples: [
      'offshoot run "Fix the login form"',
      'offshoot run --task T1 --agent codex "Fix the login form"',
      'offshoot run --policy strict --allowed-tools "Read,Edit,Bash(npm test *)" "Fix the tests"',
      'offshoot run --task T1 --resume',
      'offshoot run --agents claude,codex --check "npm test" "Fix the tests"',
      'offshoot run --task T1 -- npm run codemod',
    ],
    load: async () => (await import('./commands/run.ts')).run,
  }),
  verb('resume', 'task.run', {
    summary: 'Continue the conversation of a task in the same workspace',
    args: [aTask, { name: 'PROMPT' }],
    only: conversation,
    options: leaving,
    examples: ['offshoot resume T1', 'offshoot resume T1 "Now the tests"'],
    load: async () => (await import('./commands/run.ts')).resume,
  }),
  verb('exec', 'task.run', {
    summary: 'Run any command in the workspace of a task',
    args: [{ ...aTask, required: true }],
    rest: '-- COMMAND…',
    only: [],
    options: { isolation: withoutTask },
    examples: ['offshoot exec T1 -- npm test'],
    load: async () => (await import('./commands/run.ts')).exec,
  }),
  verb('say', 'task.say', {
    examples: ['offshoot say T1 "Use the new API, please"'],
    load: async () => (await import('./commands/say.ts')).say,
  }),
  verb('answer', 'task.answer', {
    examples: ['offshoot answer T1', 'offshoot answer T1 y', 'offshoot answer T1 always'],
    load: async () => (await import('./commands/answer.ts')).answer,
  }),
  verb('stop', 'task.stop', {
    examples: ['offshoot stop T1'],
    load: async () => (await import('./commands/stop.ts')).stop,
  }),
  command('attach', 'work', 'Follow a detached run, or open Claude Code in the workspace', {
    args: [aTask],
    examples: ['offshoot attach T1'],
    load: async () => (await import('./commands/attach.ts')).attach,
  }),
  verb('checkpoint', 'task.checkpoint', {
    examples: ['offshoot checkpoint T1', 'offshoot checkpoint T1 --tool Edit --summary "Fix the typo"'],
    load: async () => (await import('./commands/checkpoint.ts')).checkpoint,
  }),
  verb('rewind', 'task.rewind', {
    short: { force: 'f' },
    examples: ['offshoot rewind T1 --to 2'],
    load: async () => (await import('./commands/rewind.ts')).rewind,
  }),
  command('cd', 'work', 'Print the path of a workspace; with shell integration, change to it', {
    args: [aTask],
    examples: ['cd "$(offshoot cd TASK-123)"', 'eval "$(offshoot completion bash)" && offshoot cd TASK-123'],
    load: async () => (await import('./commands/cd.ts')).cd,
  }),
  command('open', 'work', 'Open the workspace of a task in your editor', {
    args: [aTask],
    examples: ['offshoot open TASK-123', 'VISUAL=vim offshoot open TASK-123'],
    load: async () => (await import('./commands/open.ts')).open,
  }),
  command('status', 'look', 'Show the tasks that wait for you, as offshoot alone does', {
    examples: ['offshoot status', 'offshoot status --json'],
    load: async () => (await import('./commands/waiting.ts')).waiting,
  }),
  command('watch', 'look', 'Watch all tasks live and act on them, or print every event as JSON', {
    options: {
      'all-repos': { type: 'boolean', help: 'the tasks of all repositories' },
      since: {
        type: 'string',
        value: 'N',
        help: 'with --json: begin after the event with that seq; 0: with the first (default: with the next)',
      },
    },
    examples: ['offshoot watch', 'offshoot watch --all-repos', 'offshoot watch --json --since 0'],
    load: async () => (await import('./commands/watch.ts')).watch,
  }),
  verb('list', 'task.list', {
    short: { all: 'a' },
    options: { disk: { type: 'boolean', help: 'show the disk use of workspaces, vault, pool and trash' } },
    examples: ['offshoot list', 'offshoot list --all --json', 'offshoot list --disk'],
    load: async () => (await import('./commands/list.ts')).list,
  }),
  verb('show', 'task.show', {
    options: {
      disk: {
        type: 'boolean',
        help: 'show the disk use of the workspace, and of the repository’s vault, pool and trash',
      },
    },
    examples: ['offshoot show TASK-123', 'offshoot show TASK-123 --json', 'offshoot show TASK-123 --disk'],
    load: async () => (await import('./commands/show.ts')).show,
  }),
  verb('log', 'task.log', {
    examples: ['offshoot log T1', 'offshoot log T1 --json', 'offshoot log T1 --agent'],
    load: async () => (await import('./commands/log.ts')).log,
  }),
  verb('diff', 'task.diff', {
    options: {
      stat: { type: 'boolean', help: 'only files and numbers of lines' },
      'name-only': { type: 'boolean', help: 'only the names of files' },
    },
    examples: [
      'offshoot diff T1',
      'offshoot diff T1 --step 3',
      'offshoot diff T1 --step 2..5 --stat',
      'offshoot diff T1 --hunks',
      'offshoot diff T1 --binary',
    ],
    load: async () => (await import('./commands/diff.ts')).diff,
  }),
  verb('compare', 'task.compare', {
    args: [
      { ...aTask, required: true },
      { ...aTask, required: true, many: true },
    ],
    options: { check },
    examples: ['offshoot compare T1 T2', 'offshoot compare T1 T2 T3 --check "npm test"'],
    load: async () => (await import('./commands/compare.ts')).compare,
  }),
  verb('forecast', 'task.forecast', {
    examples: ['offshoot forecast', 'offshoot forecast --after T1,T3', 'offshoot forecast --json'],
    load: async () => (await import('./commands/forecast.ts')).forecast,
  }),
  verb('ops', 'system.ops', {
    examples: ['offshoot ops'],
    load: async () => (await import('./commands/undo.ts')).ops,
  }),
  verb('audit', 'system.audit', {
    examples: ['offshoot audit --since 3d', 'offshoot audit --task T1 --failures', 'offshoot audit --verify'],
    load: async () => (await import('./commands/audit.ts')).audit,
  }),
  verb('repos', 'system.repos', {
    examples: ['offshoot repos'],
    load: async () => (await import('./commands/repos.ts')).repos,
  }),
  verb('accept', 'task.accept', {
    short: { message: 'm', 'dry-run': 'n' },
    options: {
      hunks: {
        type: 'string',
        value: 'FILE',
        help: 'only the hunks listed in FILE (- is stdin), as diff --hunks or --json prints them',
      },
      yes: { type: 'boolean', help: 'do not ask before something lands that runs code later' },
    },
    examples: [
      'offshoot accept T1 --dry-run',
      'offshoot accept T1',
      'offshoot accept T1 --as squash -m "Fix login"',
      'offshoot accept T1 --as pr',
      'offshoot accept T1 --only src --keep',
      'offshoot accept T1 --hunks chosen.txt',
    ],
    load: async () => (await import('./commands/accept.ts')).accept,
  }),
  verb('update', 'task.update', {
    examples: ['offshoot update T1', 'offshoot update T1 --dirty --conflicts markers'],
    load: async () => (await import('./commands/update.ts')).update,
  }),
  verb('reject', 'task.reject', {
    examples: ['offshoot reject T1', 'offshoot reject T1 && offshoot undo'],
    load: async () => (await import('./commands/reject.ts')).reject,
  }),
  verb('delete', 'task.delete', {
    examples: ['offshoot delete T1'],
    load: async () => (await import('./commands/reject.ts')).deleteTask,
  }),
  verb('undo', 'system.undo', {
    examples: ['offshoot undo', 'offshoot undo 3k2f'],
    load: async () => (await import('./commands/undo.ts')).undo,
  }),
  verb('prune', 'task.prune', {
    short: { 'dry-run': 'n', force: 'f' },
    options: { hours },
    examples: ['offshoot prune --dry-run', 'offshoot prune --older-than 3d'],
    load: async () => (await import('./commands/prune.ts')).prune,
  }),
  verb('worktree remove', 'worktree.remove', {
    short: { force: 'f' },
    options: { 'delete-branch': { type: 'boolean', help: 'delete the branch (default)' } },
    examples: ['offshoot worktree remove --task TASK-123', 'offshoot worktree remove --path ~/wt/T1 --force'],
    load: async () => (await import('./commands/remove.ts')).worktreeRemove,
  }),
  verb('repair', 'task.repair', {
    examples: ['offshoot repair T1', 'offshoot repair', 'offshoot repair --rebuild'],
    load: async () => (await import('./commands/repair.ts')).repair,
  }),
  verb('recover', 'system.recover', {
    examples: ['offshoot recover'],
    load: async () => (await import('./commands/recover.ts')).recover,
  }),
  verb('doctor', 'system.doctor', {
    options: {
      orphans: {
        type: 'boolean',
        help: 'list only worktrees and folders of no open task, and those that an open task misses',
      },
    },
    examples: ['offshoot doctor', 'offshoot doctor --json', 'offshoot doctor --orphans'],
    load: async () => (await import('./commands/doctor.ts')).doctor,
  }),
  verb('pool', 'system.pool', {
    examples: ['offshoot pool', 'offshoot pool --clear'],
    load: async () => (await import('./commands/pool.ts')).pool,
  }),
  verb('repos forget', 'system.forget', {
    args: [{ name: 'PATH', required: true }],
    examples: ['offshoot repos forget ~/src/old-shop', 'offshoot repos forget .'],
    load: async () => (await import('./commands/repos.ts')).forget,
  }),
  verb('agents', 'system.agents', {
    examples: ['offshoot agents', 'offshoot agents --json'],
    load: async () => (await import('./commands/agents.ts')).agents,
  }),
  verb('agents install', 'task.install', {
    examples: ['offshoot agents install T1', 'offshoot agents install T1 --agent claude'],
    load: async () => (await import('./commands/agents.ts')).install,
  }),
  command(
    'hook',
    'setup',
    'Answer a hook of Claude Code when you run it yourself: its worktrees become tasks',
    {
      args: [
        { name: 'AGENT', required: true, suggests: ['claude'] },
        { name: 'EVENT', required: true },
      ],
      isForPrograms: true,
      examples: ['offshoot hook claude WorktreeCreate', 'offshoot hook claude WorktreeRemove'],
      load: async () => (await import('./commands/hook.ts')).hook,
    },
  ),
  verb('trust', 'system.trust', {
    options: { yes: { type: 'boolean', help: 'do not ask at a terminal' } },
    examples: ['offshoot trust --show', 'offshoot trust'],
    load: async () => (await import('./commands/trust.ts')).trust,
  }),
  verb('config', 'system.config', {
    options: { 'show-origin': { type: 'boolean', help: 'show where each value comes from' } },
    examples: ['offshoot config --show-origin', 'OFFSHOOT_LIMITS_PER_REPO=30 offshoot config'],
    load: async () => (await import('./commands/config.ts')).config,
  }),
  verb('config import', 'system.import', {
    short: { 'dry-run': 'n' },
    examples: ['offshoot config import --dry-run', 'offshoot config import .cursor/worktrees.json'],
    load: async () => (await import('./commands/config.ts')).importPeers,
  }),
  command('serve', 'setup', 'Run the daemon: HTTP for programs, and the page in your browser', {
    options: {
      port: { type: 'string', value: 'N', help: 'the port (default: 6337); 0 takes any free one' },
      open: { type: 'boolean', help: 'open the page in your browser' },
      host: {
        type: 'string',
        value: 'ADDRESS',
        help: 'listen on this address (default: 127.0.0.1); any other needs TLS and a token of yours',
      },
      name: {
        type: 'string',
        value: 'NAME',
        help: 'the name that browsers use for this machine (default: the address)',
      },
      'tls-cert': { type: 'string', value: 'FILE', help: 'the certificate, as PEM' },
      'tls-key': { type: 'string', value: 'FILE', help: 'its key, as PEM' },
      install: {
        type: 'string',
        value: '[KIND]',
        values: ['systemd', 'launchd'],
        noun: 'kind',
        bare: true,
        help: 'print the file with which systemd (of a user) or launchd keeps it running; nothing is changed',
      },
    },
    examples: [
      'offshoot serve',
      'offshoot serve --open',
      'offshoot serve --port 0 --json',
      'offshoot serve --install systemd',
    ],
    load: async () => (await import('./commands/serve.ts')).serve,
  }),
  command('daemon status', 'setup', 'Say whether the daemon is running, where, and what its queue holds', {
    examples: ['offshoot daemon status', 'offshoot daemon status --json'],
    load: async () => (await import('./commands/daemon.ts')).status,
  }),
  command('daemon stop', 'setup', 'Stop the daemon, after the requests that are under way', {
    examples: ['offshoot daemon stop'],
    load: async () => (await import('./commands/daemon.ts')).stop,
  }),
  verb('token create', 'token.create', {
    examples: [
      'offshoot token create --scope look --name dashboard',
      'offshoot token create --task T1 --days 1',
    ],
    load: async () => (await import('./commands/token.ts')).create,
  }),
  verb('token list', 'token.list', {
    examples: ['offshoot token list', 'offshoot token list --json'],
    load: async () => (await import('./commands/token.ts')).list,
  }),
  verb('token revoke', 'token.revoke', {
    examples: ['offshoot token revoke 1f0k2m3n'],
    load: async () => (await import('./commands/token.ts')).revoke,
  }),
  command('mcp', 'setup', 'Serve MCP at stdin and stdout, for agents and editors that start it', {
    isForPrograms: true,
    options: {
      scope: {
        type: 'string',
        value: 'SCOPE',
        values: scopes,
        noun: 'scope',
        help: 'look; run (default): also start and steer agents; land: also accept, reject, undo; admin: everything',
      },
    },
    examples: ['offshoot mcp', 'offshoot mcp --scope look', 'offshoot mcp -C ~/src/shop --scope land'],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  }),
  command('acp', 'setup', 'Serve the Agent Client Protocol at stdin and stdout, for editors that start it', {
    isForPrograms: true,
    options: {
      agent: {
        type: 'string',
        value: 'NAME',
        suggests: 'agents',
        help: 'the agent that does the work (default: agent.name, else the first installed)',
      },
      policy: {
        type: 'string',
        value: 'LEVEL',
        values: policyLevels,
        noun: 'policy',
        help: 'permissive, moderate or strict (default: policy.level)',
      },
    },
    examples: ['offshoot acp', 'offshoot acp --agent codex', 'offshoot acp --policy strict'],
    load: async () => (await import('./commands/acp.ts')).acp,
  }),
  command(
    'completion',
    'setup',
    'Print shell completion, and the integration that lets `offshoot cd` change the folder',
    {
      args: [{ name: 'SHELL', required: true, noun: 'shell', values: ['bash', 'zsh', 'fish'] }],
      examples: ['eval "$(offshoot completion bash)"', 'offshoot completion fish | source'],
      load: async () => (await import('./commands/completion.ts')).completionOf(commands),
    },
  ),
  command('demo', 'setup', 'Try it on a throwaway repository', {
    examples: ['offshoot demo'],
    load: async () => (await import('./commands/demo.ts')).demo,
  }),
  command('help', 'setup', 'Show all commands, or the help of one', {
    args: [{ name: 'COMMAND', many: true }],
    examples: ['offshoot help', 'offshoot help accept'],
    load: async () => (await import('./commands/help.ts')).helpOf(commands),
  }),
  command('version', 'setup', 'Print the version', {
    examples: ['offshoot version'],
    load: async () => (await import('./commands/help.ts')).version,
  }),
  verb('worktree create', 'task.start', {
    aliasOf: 'start',
    args: [],
    only: ['from', 'branch'],
    options: { task },
    examples: [
      'offshoot worktree create --task TASK-123',
      'offshoot worktree create --task T1 --branch feature/t1',
    ],
    load: async () => (await import('./commands/start.ts')).worktreeCreate,
  }),
  verb('worktree list', 'worktree.list', {
    short: { all: 'a' },
    examples: ['offshoot worktree list', 'offshoot worktree list --json'],
    load: async () => (await import('./commands/worktrees.ts')).worktreeList,
  }),
  verb('worktree show', 'task.show', {
    aliasOf: 'show',
    args: [],
    options: { task },
    examples: ['offshoot worktree show --task TASK-123'],
    load: async () => (await import('./commands/show.ts')).worktreeShow,
  }),
  verb('worktree prune', 'task.prune', {
    aliasOf: 'prune',
    short: { 'dry-run': 'n', force: 'f' },
    options: { hours },
    examples: ['offshoot worktree prune --older-than 3d', 'offshoot worktree prune --hours 24 --dry-run'],
    load: async () => (await import('./commands/prune.ts')).prune,
  }),
]
