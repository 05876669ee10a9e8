/**
 * What each setting may be, and what it is for. The error text of a rule completes "must be …".
 * Only imported when there is something to check, because loading zod is slow (some 90 ms uncached).
 */
import * as z from 'zod'
import { policyLevels } from '../core/model/enums.ts'
import type { SettingKey, SettingValue } from './keys.ts'

const truth = () => z.boolean('true or false')

const oneOf = <const T extends string>(...words: T[]) => z.enum(words, `one of ${words.join(', ')}`)

function whole(from: number, to: number) {
  const expected = `a whole number from ${from} to ${to}`
  return z.int(expected).min(from, expected).max(to, expected)
}

function amount(from: number, to: number) {
  const expected = `a number from ${from} to ${to}`
  return z.number(expected).min(from, expected).max(to, expected)
}

/** The system takes a text no further than to its first NUL. */
const withoutNul = (expected: string) => z.string(expected).refine((text) => !text.includes('\0'), expected)

const path = () => withoutNul('a path')

const tools = () =>
  z.array(z.string('a list of tools').min(1, 'a list of tools'), 'a list of tools').readonly()

/** `shape` is what the text must look like with its placeholders filled in; a brace left over is never in shape. */
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

/** Any text; a word in braces must be one that will be filled in. */
function message() {
  const known = ['task', 'title', 'steps']
  const expected = 'a message; in braces it may have {task}, {title}, {steps}'
  const isGood = (text: string) =>
    text.trim() !== '' && [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => known.includes(name))
  return z.string(expected).refine(isGood, expected)
}

const command = () => withoutNul('a command')

const reverted = (when: string) =>
  oneOf('never', 'shadow', 'always').describe(
    `Whether a task is rejected when ${when}: never, on a shadow branch, or always. It can be undone.`,
  )

const patterns = () => {
  const expected = 'a list of patterns'
  return z.array(z.string(expected).regex(/^[^\p{Cc}]*$/u, expected), expected).readonly()
}

const folderName = /^(?!-)[^/\\{}\p{Cc}]+$/u
/** The rules of `git check-ref-format`. */
const branchName = /^(?!-)(?!.*(?:\.\.|\/\/|(?:^|\/)\.|[./]$|\.lock(?:\/|$)))(?!\/)[^\s~^:?*[\\{}\p{Cc}]+$/u

export const rules = {
  enabled: truth().describe('Off: `start` refuses. `OFFSHOOT_DISABLED=1` switches it off, too.'),
  'workspace.base': path().describe(
    'Folder that holds the workspaces; relative to the root of the repository, `~` expands. Empty: the state folder.',
  ),
  'workspace.name': template('a folder name', folderName, ['task'], ['date', 'time', 'id8', 'repo']).describe(
    'Name of a workspace’s folder, with `{task}`; also `{date}`, `{time}`, `{id8}`, `{repo}`.',
  ),
  'workspace.copy': patterns().describe(
    'Ignored files that each workspace gets a copy of, as patterns of a `.gitignore`; `.worktreeinclude` names more.',
  ),
  'workspace.link': patterns().describe(
    'The same as links to your own files: what happens to them happens to yours.',
  ),
  'branch.name': template('a branch name', branchName, ['task', 'id8']).describe(
    'Name of a task’s branch, with `{task}` or `{id8}`.',
  ),
  'isolation.fallback': oneOf('none', 'direct').describe(
    'Outside of a repository `run` refuses; `direct`: it runs the agent in the folder itself, without steps or undo.',
  ),
  'pool.size': whole(0, 16).describe(
    'How many workspaces are kept ready in each repository after its first `start`; 0 makes none.',
  ),
  'ports.base': whole(1024, 65_535).describe(
    'From here on the ports of tasks are taken, up to those that the system hands out by itself (32768).',
  ),
  'ports.size': whole(0, 100).describe('How many ports each open task has to itself; 0: none.'),
  'limits.perRepo': whole(1, 10_000).describe('How many open tasks a repository may have.'),
  'limits.concurrent': whole(1, 1000).describe('How many runs may be at work in a repository; others queue.'),
  'limits.timeMinutes': amount(0, 10_000).describe('How long a run may take. 0: as long as it wants.'),
  'limits.turns': whole(0, 10_000).describe(
    'How many answers of its model an agent may take in one run. 0: as many as it wants.',
  ),
  'agent.name': z
    .string('the name of an agent')
    .describe('Which agent `run` takes (`offshoot agents` lists them). Empty: the first that is installed.'),
  'agent.adapters': z
    .array(path(), 'a list of paths')
    .readonly()
    .describe('Modules that export agents of your own; relative to the root of the repository, `~` expands.'),
  'policy.level': oneOf(...policyLevels).describe(
    'What an agent may do: `permissive`, `moderate`, or `strict`: only the allowed tools.',
  ),
  'policy.allowed': tools().describe('Tools, or uses of them, that are allowed: `Edit`, `Bash(npm test *)`.'),
  'policy.denied': tools().describe('The same, for what is always denied.'),
  'checkpoints.publish': oneOf('runEnd', 'always', 'never').describe(
    'When steps become commits on the branch: when a run ends, at every step, or never.',
  ),
  'accept.squashMessage': message().describe(
    'Message of a squash without `-m`; `{task}`, `{title}` and `{steps}` (a list) are filled in.',
  ),
  'accept.mergeMessage': message().describe('The same for a merge.'),
  'pr.remote': z
    .string('a remote')
    .regex(/^(?!-)[^\s\p{Cc}]+$/u, 'the name or the address of a remote')
    .describe('Where the branch of a pull request is pushed to: the name of a remote, or an address.'),
  'pr.tool': oneOf('auto', 'gh', 'glab').describe(
    'What opens a pull request; `auto` takes the one that fits the host of the remote.',
  ),
  'hooks.postStart': command().describe(
    'Runs in each new workspace, to set it up. If it fails, the workspace stays.',
  ),
  'hooks.preRun': command().describe('Runs in the workspace before a run; if it fails, there is none.'),
  'hooks.preAccept': command().describe(
    'Runs in the workspace before an accept; if it fails, nothing lands.',
  ),
  'hooks.postAccept': command().describe('Runs in the checkout after an accept.'),
  'hooks.preRemove': command().describe(
    'Runs in the workspace before a reject, delete or removal; if it fails, the task stays.',
  ),
  'hooks.timeoutSeconds': whole(1, 86_400).describe('How long each of these may take.'),
  'lock.waitSeconds': whole(0, 3600).describe('How long a command waits for another one that is at work.'),
  'recover.everyMinutes': amount(0, 1440).describe(
    'How often everything is looked after, as by `offshoot recover`, while a run goes on. 0: never.',
  ),
  'prune.maxAgeDays': whole(0, 3650).describe('Tasks that nobody touched for so long may be pruned.'),
  'prune.minKeep': whole(0, 10_000).describe(
    'So many of the newest tasks are never pruned for their age or number.',
  ),
  'prune.cleanupOnComplete': truth().describe(
    'A task whose run has ended well is pruned at once; its branch stays.',
  ),
  'prune.protectUncommitted': truth().describe(
    'What no commit and no step holds keeps a task from being pruned. Off: it becomes a step first.',
  ),
  'prune.warnUncommitted': truth().describe('Prune warns of tasks that stay for that reason.'),
  'trash.keepDays': whole(0, 3650).describe('How long closed tasks can be brought back, in days.'),
  'trash.maxMegabytes': whole(1, 100_000_000).describe(
    'What trash and vault of a repository may take together. Above it, folders whose files are in the vault leave the trash, oldest first.',
  ),
  'disk.warnPercent': whole(1, 100).describe(
    'From here on the disk counts as full: prune warns, and empties the trash of what the vault has.',
  ),
  'autoRevert.failure': reverted('a run of it failed'),
  'autoRevert.shutdown': reverted('a run of it was cancelled or killed'),
  'autoRevert.idle': reverted('nobody touched it for `autoRevert.idleMinutes`'),
  'autoRevert.idleMinutes': whole(1, 1_000_000).describe('How long a task may stay untouched.'),
  'autoRevert.newTask': truth().describe(
    'A new task in the same checkout gives the one up that is there. Off: the new one is refused.',
  ),
  keepFailed: truth().describe('Keeps the branch of a task that is rejected because it failed.'),
} satisfies { [K in SettingKey]: z.ZodType<SettingValue<K>> }
