/**
 * What each setting may be, and what it is for. The error text of a rule completes "must be …".
 * Only imported when there is something to check, because loading zod is slow (some 90 ms uncached).
 */
import * as z from 'zod'
import { policyLevels } from '../core/policy-levels.ts'
import type { SettingKey, SettingValue } from './keys.ts'

const truth = () => z.boolean('true or false')

const oneOf = <const T extends string>(...words: T[]) => z.enum(words, `one of ${words.join(', ')}`)

function whole(from: number, to: number) {
  const expected = `a whole number from ${from} to ${to}`
  return z.int(expected).min(from, expected).max(to, expected)
}

// oxlint-disable-next-line no-control-regex
const path = () => z.string('a path').regex(/^[^\0]*$/, 'a path')

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
  'pool.size': whole(0, 16).describe(
    'How many workspaces are kept ready in each repository after its first `start`; 0 makes none.',
  ),
  'limits.perRepo': whole(1, 10_000).describe('How many open tasks a repository may have.'),
  'limits.concurrent': whole(1, 1000).describe('How many runs may be at work in a repository; others queue.'),
  'limits.timeMinutes': whole(0, 10_000).describe('How long a run may take. 0: as long as it wants.'),
  'limits.turns': whole(0, 10_000).describe(
    'How many answers of its model an agent may take in one run. 0: as many as it wants.',
  ),
  'agent.name': z
    .string('the name of an agent')
    .describe('Which agent `run` takes (`offshoot agents` lists them). Empty: the first that is installed.'),
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
  'lock.waitSeconds': whole(0, 3600).describe('How long a command waits for another one that is at work.'),
  'prune.maxAgeDays': whole(0, 3650).describe('Tasks that nobody touched for so long may be pruned.'),
  'prune.minKeep': whole(0, 10_000).describe('So many of the newest tasks are never pruned.'),
} satisfies { [K in SettingKey]: z.ZodType<SettingValue<K>> }
