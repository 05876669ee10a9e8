/** Every action through the command line and through HTTP, side by side on two repositories that are alike. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'

interface Row {
  readonly action: ActionName
  /** The words of the command line; undefined for an action without a command, which is then only called. */
  readonly words?: readonly string[]
  readonly input?: object
  /** What the user does before, in each of the two repositories. */
  readonly before?: (repo: TestRepo, workspace: (task: string) => string) => void
}

const run = ['sh', '-c', 'echo run > run.txt']
const change = (name: string, task: string) => (_: TestRepo, workspace: (task: string) => string) =>
  writeFileSync(path.join(workspace(task), name), `${name} of ${task}\n`)

/** In this order, as a user would. */
const rows: Row[] = [
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
    words: ['run', '--task', 'T2', '--', ...run],
    input: { task: 'T2', create: true, command: run },
  },
  {
    action: 'task.run',
    words: ['run', '--task', 'T2', '--agent', 'none', 'x'],
    input: { task: 'T2', create: true, agent: 'none', prompt: 'x' },
  },
  { action: 'task.list', words: ['list'], input: {} },
  { action: 'task.list', words: ['list', '--state', 'frob'], input: { state: 'frob' } },
  { action: 'task.show', words: ['show', 'T1'], input: { task: 'T1' } },
  { action: 'task.show', words: ['show', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.find', input: { task: 'T1' } },
  { action: 'task.exists', input: { task: 'T1' } },
  { action: 'task.log', words: ['log', 'T1'], input: { task: 'T1' } },
  { action: 'task.log', words: ['log', 'NONE'], input: { task: 'NONE' } },
  { action: 'task.diff', words: ['diff', 'T1'], input: { task: 'T1', hunks: true } },
  { action: 'task.diff', words: ['diff', 'T1', '--step', '9'], input: { task: 'T1', step: '9' } },
  { action: 'task.compare', words: ['compare', 'T1', 'T2'], input: { tasks: ['T1', 'T2'] } },
  { action: 'task.compare', words: ['compare', 'T1', 'NONE'], input: { tasks: ['T1', 'NONE'] } },
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
    before(repo, workspace) {
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

let byCommand: TestRepo
let byHttp: TestRepo
let daemon: TestDaemon

const alike = () => testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))

beforeAll(async () => {
  byCommand = alike()
  byHttp = alike()
  daemon = await startDaemon(byHttp)
})

afterAll(async () => {
  await daemon.stop()
  for (const { home } of [byCommand, byHttp]) rmSync(home, { recursive: true, force: true })
})

/** What differs between two machines, or two moments. */
const varying: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>'],
  [/\b\d{8}-\d{6}\b/g, '<time>'],
  [/\boffshoot_[0-9a-z]{8}_[\w-]{43}/g, '<token>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\b[0-9a-v]{20}\b/g, '<id>'],
  [/\brepo-[0-9a-z]{8}\b/g, 'repo-<id>'],
  [/\bprocess \d+/g, 'process <pid>'],
  [/\d[\d.]* (?:B|KiB|MiB)\b/g, '<size>'],
  [/\b(\w+)_[0-9a-z]{6}\b/g, '$1_<id>'],
]
const numbers = new Set(['age', 'bytes', 'seconds', 'pid', 'free', 'total', 'ports'])

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
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, home, name)]))
}

/** The workspace of a task, by the answer that made it. */
const workspaces = new Map<string, string>()
const noteWorkspace = (repo: TestRepo, json: { task?: { id: string; path: string } }) =>
  json.task && workspaces.set(`${repo.home} ${json.task.id}`, json.task.path)
const workspaceIn = (repo: TestRepo) => (task: string) => workspaces.get(`${repo.home} ${task}`) ?? ''

const exits: Readonly<Record<number, readonly number[]>> = {
  400: [2],
  404: [3],
  409: [4],
  422: [5],
  500: [1, 6],
}
const seen = new Set<number>()

test.each(rows)('D5: $action: $words', async ({ action, words, input = {}, before }) => {
  for (const repo of [byCommand, byHttp]) before?.(repo, workspaceIn(repo))
  const takesRepo = !withoutRepo.has(action)
  const [answered, { status, json }] = await Promise.all([
    words && offshoot(byCommand, '--json', ...words),
    daemon.call(action, { ...(takesRepo && { repo: byHttp.dir }), ...input }),
  ])
  seen.add(status)
  noteWorkspace(byHttp, json)
  expect(json.ok).toBe(status === 200)
  if (!answered) return
  noteWorkspace(byCommand, answered.json)
  if (status !== 200) expect(exits[status]).toContain(answered.code)
  // What the command line calls a flag is a field here, so a wrong one is told in other words.
  if (json.error?.code === 'WT_019') {
    expect(answered.json.error.code).toBe('WT_019')
    return
  }
  const { notices: _, ...printed } = answered.json
  expect(plain(json, byHttp.home)).toEqual(plain(printed, byCommand.home))
})

const withoutRepo: ReadonlySet<ActionName> = new Set([
  'system.recover',
  'system.repos',
  'token.list',
  'token.revoke',
])

test('D5: no action of the table and no status was left out', () => {
  expect([...new Set(rows.map(({ action }) => action))].sort()).toEqual(Object.keys(actions).sort())
  expect(seen).toEqual(new Set([200, 400, 404, 409, 422, 500]))
})
