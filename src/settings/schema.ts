/**
 * The rule and the description of each setting. The error text of a rule completes "must be …". Imported only if there
 * is a value to check, because loading zod takes some 90 ms uncached
 * (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md).
 */
import * as z from 'zod'
import { day, findDuration } from '../core/base/time.ts'
import { notifyWays, policyLevels } from '../core/model/enums.ts'
import type { SettingKey, SettingValue } from './keys.ts'

const boolean = () => z.boolean('true or false')

const oneOf = <const T extends string>(...words: T[]) => z.enum(words, `one of ${words.join(', ')}`)

function integer(from: number, to: number) {
  const expected = `a whole number from ${from} to ${to}`
  return z.int(expected).min(from, expected).max(to, expected)
}

function number(from: number, to: number) {
  const expected = `a number from ${from} to ${to}`
  return z.number(expected).min(from, expected).max(to, expected)
}

/** The operating system cuts a string at its first NUL. */
const withoutNul = (expected: string) => z.string(expected).refine((text) => !text.includes('\0'), expected)

const path = () => withoutNul('a path')

const tools = () =>
  z.array(z.string('a list of tools').min(1, 'a list of tools'), 'a list of tools').readonly()

/** `shape` must match the text with its placeholders filled in; it matches no brace, so unknown placeholders fail. */
function template(what: string, shape: RegExp, identifying: string[], others: string[] = []) {
  const braced = (names: string[], word: string) => names.map((name) => `{${name}}`).join(word)
  const may = others.length > 0 ? `; it may also use ${braced(others, ', ')}` : ''
  const expected = `${what} with ${braced(identifying, ' or ')}${may}`
  const known = [...identifying, ...others]
  const isGood = (text: string) =>
    identifying.some((name) => text.includes(`{${name}}`)) &&
    shape.test(text.replace(/\{(\w+)\}/g, (found, name: string) => (known.includes(name) ? 'x' : found)))
  return z.string(expected).refine(isGood, expected)
}

/** Any text; each word in braces must be a known placeholder. */
function messageTemplate() {
  const known = ['task', 'title', 'steps']
  const expected = 'a message; in braces it may have {task}, {title}, {steps}'
  const isGood = (text: string) =>
    text.trim() !== '' && [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => known.includes(name))
  return z.string(expected).refine(isGood, expected)
}

/** At most a day: the hooks of agents wait no longer. */
const duration = () => {
  const expected = '`auto`, or a time of at most a day: 30s, 10m, 2h'
  const isGood = (text: string) => text === 'auto' || (findDuration(text) ?? Infinity) <= day
  return z.string(expected).refine(isGood, expected)
}

const command = () => withoutNul('a command')

const autoReject = (when: string) =>
  oneOf('never', 'shadow', 'always').describe(
    `Which tasks are rejected by themselves when ${when}: none, those on a shadow branch, or all. Undo brings them back.`,
  )

const patterns = () => {
  const expected = 'a list of patterns'
  return z.array(z.string(expected).regex(/^[^\p{Cc}]*$/u, expected), expected).readonly()
}

const folderName = /^(?!-)[^/\\{}\p{Cc}]+$/u
/** The rules of `git check-ref-format`. */
const branchName = /^(?!-)(?!.*(?:\.\.|\/\/|(?:^|\/)\.|[./]$|\.lock(?:\/|$)))(?!\/)[^\s~^:?*[\\{}\p{Cc}]+$/u

export const rules = {
  enabled: boolean().describe(
    'Whether tasks are started and run; off, that is refused, unless `isolation.fallback` says otherwise. `OFFSHOOT_DISABLED=1` turns it off, too.',
  ),
  'workspace.base': path().describe(
    'Folder of the workspaces, relative to the root of the repository; `~` expands. Empty: the state folder.',
  ),
  'workspace.name': template('a folder name', folderName, ['task'], ['date', 'time', 'id8', 'repo']).describe(
    'Name of a workspace’s folder, with `{task}`; also `{date}`, `{time}`, `{id8}`, `{repo}`.',
  ),
  'workspace.copy': patterns().describe(
    'Ignored files to copy into each workspace, as patterns of a `.gitignore`; `.worktreeinclude` may list more.',
  ),
  'workspace.link': patterns().describe(
    'Ignored files to link into each workspace. A link leads to your own file, so every change changes your file.',
  ),
  'branch.name': template('a branch name', branchName, ['task', 'id8']).describe(
    'Name of a task’s branch, with `{task}` or `{id8}`.',
  ),
  'isolation.fallback': oneOf('none', 'direct').describe(
    'What `run` and `exec` do outside of a repository, and where you switched offshoot off: `none` refuses; `direct` runs in the folder itself, without steps or undo.',
  ),
  'pool.size': integer(0, 16).describe(
    'How many workspaces each repository keeps pre-built after its first `start`; 0: none.',
  ),
  'ports.base': integer(1024, 65_535).describe(
    'First network port for tasks. Blocks end below 32768, where Linux begins to hand out ports by itself.',
  ),
  'ports.size': integer(0, 100).describe('How many network ports each open task gets; 0: none.'),
  'limits.perRepo': integer(1, 10_000).describe(
    'How many open tasks a repository may have. `prune` gives up older ones above it, but not because the repository’s own file lowered it.',
  ),
  'limits.concurrent': integer(1, 1000).describe(
    'How many runs a repository may have at once; others queue.',
  ),
  'limits.global': integer(0, 1000).describe(
    'How many runs there may be at once in all repositories; others queue. 0: no limit.',
  ),
  'limits.perAgent': integer(0, 1000).describe(
    'How many runs of one agent there may be at once in all repositories; others queue. 0: no limit.',
  ),
  'limits.timeMinutes': number(0, 10_000).describe('How long a run may take. 0: no limit.'),
  'limits.turns': integer(0, 10_000).describe(
    'How many turns (answers of its model) an agent may take in one run. 0: no limit.',
  ),
  'agent.name': z
    .string('the name of an agent')
    .describe('Which agent `run` uses (`offshoot agents` lists them). Empty: the first installed one.'),
  'agent.adapters': z
    .array(path(), 'a list of paths')
    .readonly()
    .describe('Modules that export your own agents, relative to the root of the repository; `~` expands.'),
  'policy.level': oneOf(...policyLevels).describe(
    'How much an agent may do: `permissive`, `moderate`, or `strict` (only the allowed tools).',
  ),
  'policy.allowed': tools().describe(
    'Allowed tools, or uses of a tool: `Edit`, `Bash(npm test *)`. A tool that only reads is allowed in the workspace alone, unless a use names another place.',
  ),
  'policy.denied': tools().describe(
    'Denied tools, or uses of a tool, in the same form. They win over allowed ones.',
  ),
  'policy.askTimeout': duration().describe(
    'How long a question waits for `offshoot answer` where nobody is at a terminal: `30s`, `10m`, `2h`; then it is denied. `auto`: `10m` in a detached run, and no time elsewhere.',
  ),
  'checkpoints.publish': oneOf('runEnd', 'always', 'never').describe(
    'When steps become commits on the branch: at the end of a run, at every step, or never.',
  ),
  'accept.squashMessage': messageTemplate().describe(
    'Commit message of a squash without `-m`, with `{task}`, `{title}` and `{steps}` (a list).',
  ),
  'accept.mergeMessage': messageTemplate().describe(
    'Commit message of a merge without `-m`, with the same placeholders.',
  ),
  'accept.leftovers': oneOf('land', 'leave').describe(
    'Whether an accept lands what failed tools left, or leaves it out, as with --without-failed.',
  ),
  'pr.remote': z
    .string('a remote')
    .regex(/^(?!-)[^\s\p{Cc}]+$/u, 'the name or the address of a remote')
    .describe("The remote to which a pull request's branch is pushed: a name, or an address."),
  'pr.tool': oneOf('auto', 'gh', 'glab').describe(
    'The program that opens a pull request; `auto` chooses by the host of the remote.',
  ),
  'editor.command': command().describe(
    'Command line that `open` runs with the workspace as its last argument; empty: `VISUAL`, else `EDITOR`, else an editor that is found.',
  ),
  'notify.how': z
    .array(oneOf(...notifyWays), `a list of ${notifyWays.join(', ')}`)
    .readonly()
    .describe(
      'How you are told that a run of an agent has ended, or waits for an answer: `bell` at its terminal, `desktop` by `notify-send` or `osascript`, `command` by `notify.command`.',
    ),
  'notify.command': command().describe(
    'Command in your checkout for `notify.how: command`. `OFFSHOOT_TASK`, `OFFSHOOT_EVENT` (`ended`, `asked`), `OFFSHOOT_STATE` and `OFFSHOOT_MESSAGE` say what happened; the message may hold words of the agent.',
  ),
  'hooks.postStart': command().describe(
    'Command that sets up each new workspace. If it fails, the workspace stays.',
  ),
  'hooks.preRun': command().describe(
    'Command in the workspace before a run. If it fails, the run does not start.',
  ),
  'hooks.preAccept': command().describe(
    'Command in the workspace before an accept. If it fails, nothing lands.',
  ),
  'hooks.postAccept': command().describe('Command in the checkout after an accept.'),
  'hooks.preRemove': command().describe(
    'Command in the workspace before a reject, delete or remove. If it fails, the task stays.',
  ),
  'hooks.timeoutSeconds': integer(1, 86_400).describe('How long each hook may take.'),
  'lock.waitSeconds': integer(0, 3600).describe('How long a command waits for the lock of another command.'),
  'recover.everyMinutes': number(0, 1440).describe(
    'How often a run, and the daemon, does the work of `offshoot recover`. 0: never.',
  ),
  'prune.maxAgeDays': integer(0, 3650).describe(
    'Tasks that nobody touched for this many days are stale, and prune may take them.',
  ),
  'prune.minKeep': integer(0, 10_000).describe(
    'How many of the newest tasks are never pruned because of their age or number.',
  ),
  'prune.cleanupOnComplete': boolean().describe(
    'Whether a task is pruned as soon as a run of it succeeds; its branch stays.',
  ),
  'prune.protectUncommitted': boolean().describe(
    'Whether work that is in no commit and no step protects a task from prune. Off: prune makes a step of it first.',
  ),
  'prune.warnUncommitted': boolean().describe(
    'Whether prune reports tasks that it keeps for uncommitted work.',
  ),
  'prune.keepBranches': boolean().describe('Whether prune keeps the branches of the tasks that it removes.'),
  'prune.everyHours': number(0, 8760).describe(
    'How often the daemon does the work of `offshoot prune`. 0: never.',
  ),
  'trash.keepDays': integer(0, 3650).describe('How long closed tasks can be brought back.'),
  'trash.maxMegabytes': integer(1, 100_000_000).describe(
    'How much disk the trash and the vault of a repository may use together. Above it, folders whose files are in the vault leave the trash, oldest first.',
  ),
  'disk.warnPercent': integer(1, 100).describe(
    'From this usage on the disk counts as full: every command that makes something warns, and prune removes from the trash the folders whose files are in the vault.',
  ),
  'autoRevert.failure': autoReject('a run failed'),
  'autoRevert.shutdown': autoReject('a run was cancelled or killed'),
  'autoRevert.idle': autoReject('nobody touched them for `autoRevert.idleMinutes`'),
  'autoRevert.idleMinutes': integer(1, 1_000_000).describe(
    'How long a task may stay untouched before `autoRevert.idle` applies.',
  ),
  'autoRevert.newTask': boolean().describe(
    'Whether a new task in the same checkout rejects the task that is there. Off: the new task is refused.',
  ),
  keepFailed: boolean().describe('Whether the branch stays when a task is rejected because it failed.'),
} satisfies { [K in SettingKey]: z.ZodType<SettingValue<K>> }
