/** A walk through every action, by the command line and by each other door, on repositories that are alike. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ActionName } from '../../src/actions/index.ts'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { offshoot, type TestRepo, testRepo } from './repo.ts'

/** A way in, beside the command line. */
export interface WalkedDoor {
  readonly name: string
  /** The rule of SPEC.md that the walk checks. */
  readonly rule: string
  /** Opens it for a user who may do everything. */
  open(repo: TestRepo): Promise<OpenedDoor>
}

export interface OpenedDoor {
  /** What the door answers: the object that `--json` prints. */
  call(action: ActionName, input: object): Promise<Answered>
  /** What else the door says of its last answer, such as a status. */
  status?(): number
  close(): Promise<void>
}

/** What a door answered, and what it said besides: the command line an exit code, HTTP a status. */
export interface Heard {
  readonly answer: unknown
  readonly code?: number | null | undefined
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a door answered
type Answered = any

/** A repository, and the workspaces of its tasks. */
export interface Walker {
  readonly repo: TestRepo
  workspace(task: string): string
  note(answer: { task?: { id: string; path: string } }): void
}

export interface Step {
  readonly action: ActionName
  /** The words of the command line; left out for an action without a command, which is then only called. */
  readonly words?: readonly string[]
  readonly input?: Readonly<Record<string, unknown>>
  /** What the user does before, in each of the repositories. */
  readonly before?: (walker: Walker) => void
}

const command = ['sh', '-c', 'echo run > run.txt']
const change = (name: string, task: string) => (walker: Walker) =>
  writeFileSync(path.join(walker.workspace(task), name), `${name} of ${task}\n`)

/** A command that ends when the user says so: while somebody follows it, or before on a slow machine, with the same answer. */
const waiting = ['sh', '-c', 'while ! test -e go; do sleep 0.05; done']
const letGo = (task: string) => (walker: Walker) => {
  const go = path.join(walker.workspace(task), 'go')
  setTimeout(() => writeFileSync(go, ''), 1_000)
}

/** In this order, as a user would; each action that can be refused is refused once. */
export const steps: readonly Step[] = [
  { action: 'task.start', words: ['start', 'T1'], input: { task: 'T1' } },
  { action: 'task.start', words: ['start', 'T1'], input: { task: 'T1' } },
  { action: 'task.start', words: ['start', '../x'], input: { task: '../x' } },
  { action: 'task.start', words: ['start', 'T2'], input: { task: 'T2' } },
  { action: 'task.start', words: ['start', 'T3', '--from', 'none'], input: { task: 'T3', from: 'none' } },
  {
    action: 'task.checkpoint',
    words: ['checkpoint', 'T1', '--tool', 'Edit'],
    input: { task: 'T1', tool: 'Edit' },
    before: change('b.txt', 'T1'),
  },
  { action: 'task.checkpoint', words: ['checkpoint', 'T1'], input: { task: 'T1' } },
  { action: 'task.checkpoint', words: ['checkpoint', 'NONE'], input: { task: 'NONE' } },
  {
    action: 'task.run',
    words: ['run', '--task', 'T2', '--', ...command],
    input: { task: 'T2', create: true, command },
  },
  {
    action: 'task.run',
    words: ['run', '--task', 'T2', '--agent', 'none', 'x'],
    input: { task: 'T2', create: true, agent: 'none', prompt: 'x' },
  },
  {
    action: 'task.detach',
    words: ['run', '--task', 'T7', '--detach', '--', ...waiting],
    input: { task: 'T7', create: true, command: waiting },
  },
  {
    action: 'task.detach',
    words: ['run', '--task', 'T2', '--detach', '--agent', 'none', 'x'],
    input: { task: 'T2', create: true, agent: 'none', prompt: 'x' },
  },
  { action: 'task.attach', words: ['attach', 'T7'], input: { task: 'T7' }, before: letGo('T7') },
  { action: 'task.attach', words: ['attach', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.list', words: ['list'], input: {} },
  { action: 'task.list', words: ['list', '--state', 'frob'], input: { state: 'frob' } },
  { action: 'task.show', words: ['show', 'T1'], input: { task: 'T1' } },
  { action: 'task.show', words: ['show', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.find', input: { task: 'T1' } },
  { action: 'task.plan', input: { agents: [] } },
  { action: 'task.exists', input: { task: 'T1' } },
  { action: 'task.log', words: ['log', 'T1'], input: { task: 'T1' } },
  { action: 'task.log', words: ['log', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.diff', words: ['diff', 'T1'], input: { task: 'T1', hunks: true } },
  { action: 'task.diff', words: ['diff', 'T1', '--step', '9'], input: { task: 'T1', step: '9' } },
  { action: 'task.compare', words: ['compare', 'T1', 'T2'], input: { tasks: ['T1', 'T2'] } },
  { action: 'task.compare', words: ['compare', 'T1', 'NONE'], input: { tasks: ['T1', 'NONE'] } },
  { action: 'task.forecast', words: ['forecast'], input: {} },
  { action: 'task.forecast', words: ['forecast', '--after', 'T1'], input: { after: ['T1'] } },
  { action: 'task.forecast', words: ['forecast', '--after', 'NONE'], input: { after: ['NONE'] } },
  { action: 'task.rewind', words: ['rewind', 'T1', '--to', '0'], input: { task: 'T1', to: 0 } },
  { action: 'task.rewind', words: ['rewind', 'T1', '--to', '99'], input: { task: 'T1', to: 99 } },
  { action: 'task.rewind', words: ['rewind', 'T1', '--to', '1'], input: { task: 'T1', to: 1 } },
  { action: 'task.update', words: ['update', 'T1'], input: { task: 'T1' } },
  { action: 'task.update', words: ['update', 'T1', '--onto', 'none'], input: { task: 'T1', onto: 'none' } },
  { action: 'task.stop', words: ['stop', 'T1'], input: { task: 'T1' } },
  { action: 'task.stop', words: ['stop', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.answer', words: ['answer', 'T1', 'y'], input: { task: 'T1', answer: 'y' } },
  { action: 'task.say', words: ['say', 'T1', 'hello'], input: { task: 'T1', text: 'hello' } },
  {
    action: 'task.install',
    words: ['agents', 'install', 'T1', '--agent', 'claude'],
    input: { task: 'T1', agent: 'claude' },
  },
  { action: 'task.install', words: ['agents', 'install', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.accept', words: ['accept', 'T2', '--dry-run'], input: { task: 'T2', dryRun: true } },
  { action: 'task.accept', words: ['accept', 'T2'], input: { task: 'T2' } },
  { action: 'task.accept', words: ['accept', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.start', words: ['start', 'T6'], input: { task: 'T6' } },
  {
    action: 'task.accept',
    words: ['accept', 'T6'],
    input: { task: 'T6' },
    before({ repo, workspace }) {
      writeFileSync(path.join(workspace('T6'), 'a.txt'), 'theirs\n')
      repo.write('a.txt', 'mine\n')
    },
  },
  { action: 'task.list', words: ['list', '-C', '/'], input: { repo: '/' } },
  { action: 'system.ops', words: ['ops'], input: {} },
  { action: 'system.undo', words: ['undo'], input: {} },
  { action: 'system.undo', words: ['undo', 'zzzz'], input: { operation: 'zzzz' } },
  { action: 'task.reject', words: ['reject', 'T2'], input: { task: 'T2' } },
  { action: 'task.reject', words: ['reject', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.start', words: ['start', 'T4'], input: { task: 'T4' } },
  { action: 'task.delete', words: ['delete', 'T4'], input: { task: 'T4' } },
  { action: 'task.delete', words: ['delete', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.start', words: ['start', 'T5'], input: { task: 'T5' } },
  { action: 'worktree.list', words: ['worktree', 'list'], input: {} },
  {
    action: 'worktree.remove',
    words: ['worktree', 'remove', '--task', 'T5'],
    input: { task: 'T5' },
    before: change('c.txt', 'T5'),
  },
  {
    action: 'worktree.remove',
    words: ['worktree', 'remove', '--task', 'T5', '--force'],
    input: { task: 'T5', force: true },
  },
  { action: 'task.prune', words: ['prune', '--dry-run'], input: { dryRun: true } },
  { action: 'task.repair', words: ['repair', 'T1'], input: { task: 'T1' } },
  { action: 'task.repair', words: ['repair', 'NONE'], input: { task: 'NONE' } },
  { action: 'system.recover', words: ['recover'], input: {} },
  { action: 'system.doctor', words: ['doctor'], input: {} },
  { action: 'system.orphans', words: ['doctor', '--orphans'], input: {} },
  { action: 'system.pool', words: ['pool'], input: {} },
  { action: 'system.audit', words: ['audit', '--task', 'T1'], input: { task: 'T1' } },
  { action: 'system.audit', words: ['audit', '--since', 'frob'], input: { since: 'frob' } },
  { action: 'system.disk', input: {} },
  { action: 'system.repos', words: ['repos'], input: {} },
  { action: 'system.notices', input: {} },
  { action: 'system.queue', input: {} },
  { action: 'system.config', words: ['config'], input: {} },
  { action: 'system.import', words: ['config', 'import'], input: {} },
  { action: 'system.trust', words: ['trust', '--show'], input: { show: true } },
  { action: 'system.agents', words: ['agents'], input: {} },
  {
    action: 'system.direct',
    words: ['run', '--isolation', 'direct', '--', 'true'],
    input: { isolation: 'direct', command: ['true'] },
  },
  { action: 'token.create', words: ['token', 'create', '--scope', 'look'], input: { scope: 'look' } },
  { action: 'token.create', words: ['token', 'create'], input: {} },
  { action: 'token.list', words: ['token', 'list'], input: {} },
  { action: 'token.revoke', words: ['token', 'revoke', 'none'], input: { id: 'none' } },
  { action: 'system.forget', words: ['repos', 'forget', '.'], input: {} },
]

/** Two repositories of this are alike, whatever door is used. */
export function makeWalker(): Walker {
  const repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  const places = new Map<string, string>()
  return {
    repo,
    workspace: (task) => places.get(task) ?? '',
    note: ({ task }) => void (task && places.set(task.id, task.path)),
  }
}

export function takeAway({ repo }: Walker): void {
  rmSync(repo.home, { recursive: true, force: true })
}

/** What the command line prints at each step; undefined for an action without a command. */
export async function walkByCommand(walker: Walker): Promise<(Heard | undefined)[]> {
  const heard: (Heard | undefined)[] = []
  for (const { words, before } of steps) {
    before?.(walker)
    if (!words) {
      heard.push(undefined)
      continue
    }
    const { json, code } = await offshoot(walker.repo, '--json', ...words)
    // Notices are for the user alone: no other door takes them away.
    const { notices: _, ...answer } = json
    walker.note(answer)
    heard.push({ answer: compared(answer, walker), code })
  }
  return heard
}

/** What a door answers at each step. */
export async function walkByDoor(walker: Walker, door: OpenedDoor): Promise<Heard[]> {
  const heard: Heard[] = []
  for (const { action, input, before } of steps) {
    before?.(walker)
    const takesRepo = 'repo' in schemas[action].input.shape
    const answer = await door.call(action, { ...(takesRepo && { repo: walker.repo.dir }), ...input })
    walker.note(answer)
    heard.push({ answer: compared(answer, walker), code: door.status?.() })
  }
  return heard
}

/** Of wrong usage only the code: the command line speaks of flags, other doors of fields. */
function compared(answer: Answered, { repo }: Walker): unknown {
  const isUsage = answer.ok === false && answer.error.code === 'WT_019'
  return isUsage ? { ok: false, error: { code: 'WT_019' } } : plain(answer, repo.home)
}

/** What differs between two repositories that are alike, and between two moments. */
const varying: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>'],
  [/\b\d{8}-\d{6}\b/g, '<time>'],
  [/\boffshoot_[0-9a-z]{8}_[\w-]{43}/g, '<token>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\b[0-9a-v]{20}\b/g, '<id>'],
  [/\brepo-[0-9a-z]{8}\b/g, 'repo-<id>'],
  [/\b(\w+)_[0-9a-z]{6}\b/g, '$1_<id>'],
  [/\bprocess \d+\b/g, 'process <pid>'],
  [/\b[\d.]+ (B|KiB|MiB|GiB)\b/g, '<size>'],
  [/\b(\w+)-[0-9a-f]{8}\.log\b/g, '$1-<id>.log'],
]
/** Parts of a forecast: `list` has that of the last one, which a daemon makes by itself; the others come only if they come soon. */
const timed: ReadonlySet<string> = new Set(['forecast', 'afterwards'])
const numbers: ReadonlySet<string> = new Set(['age', 'bytes', 'seconds', 'pid', 'ports', 'seq'])

function plain(value: unknown, home: string, key = ''): unknown {
  if (typeof value === 'string') {
    if (key === 'id' && /^[0-9a-z]{8}$/.test(value)) return '<id>'
    return varying.reduce(
      (text, [form, name]) => text.replaceAll(form, name),
      value.replaceAll(home, '<home>'),
    )
  }
  if (typeof value === 'number' && numbers.has(key)) return 0
  if (Array.isArray(value)) return value.map((one) => plain(one, home, key))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([name]) => !timed.has(name))
  return Object.fromEntries(fields.map(([name, one]) => [name, plain(one, home, name)]))
}
