/** Everything that a verb could touch, read at one moment, with as few processes as will do. */
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Operation } from '../../src/core/model/operation.ts'
import type { Composed } from '../../src/compose/full.ts'
import type { Task } from '../../src/core/model/task.ts'
import type { KnownOperation } from '../../src/core/operations/known.ts'
import { ops } from '../../src/core/verbs/ops.ts'
import { withoutTakenBack } from '../faults/reflogs.ts'
import { namesIn, readTree, type Tree } from '../faults/folder-tree.ts'
import type { SimFixture } from './sim-fixture.ts'

const run = promisify(execFile)

export interface Snapshot {
  /** The checkout's files, tracked or not. */
  readonly files: Tree
  /** What is in `.git` beside refs, objects, index and what is ours. */
  readonly git: Tree
  /** Entry by entry; undefined while git cannot read it. */
  readonly index: Readonly<Record<string, string>> | undefined
  readonly refs: Readonly<Record<string, string>>
  readonly ourRefs: Readonly<Record<string, string>>
  readonly workspaces: Readonly<Record<string, Tree>>
  readonly trash: Readonly<Record<string, Tree>>
  /** Locks, drafts and half-made folders. */
  readonly strays: readonly string[]
  readonly children: readonly string[]
  readonly tasks: readonly Task[]
  readonly pending: readonly Task[]
  /** Those that can be undone, newest first. */
  readonly operations: readonly KnownOperation[]
  /** The ids of all that were carried out, in order. */
  readonly done: readonly string[]
  /** Workspaces of closed tasks that have left the trash, as the disk was full. */
  readonly slimmed: ReadonlySet<string>
  /** The ids of all objects that the refs of the vault lead to; undefined when one of them is missing. */
  readonly vault: ReadonlySet<string> | undefined
  /** The newest step of each task, by uid. */
  readonly tips: Readonly<Record<string, string>>
}

const isOurRef = (ref: string) => /^refs\/(offshoot|heads\/offshoot)\//.test(ref)
const isOurs = (name: string) =>
  name.startsWith('offshoot-') || (name.startsWith('logs/') && isOurRef(name.slice(5)))
const isLock = (name: string) => /\.(lock|tmp|new)$/.test(name)
const notContents = /(^|\/)\.git\/(objects|logs)$/

export async function readSnapshot(fixture: SimFixture): Promise<Snapshot> {
  const gitDir = path.join(fixture.dir, '.git')
  const all = withoutTakenBack(
    gitDir,
    readTree(gitDir, (name) => name === 'objects' || name === 'worktrees'),
  )
  const inGit = Object.entries(all)
  const refs = readRefs(gitDir, Object.keys(all))
  const base = path.join(
    fixture.state,
    'workspaces',
    namesIn(path.join(fixture.state, 'workspaces'))[0] ?? 'none',
  )
  const trees = (folder: string, isSkipped: (name: string) => boolean) =>
    Object.fromEntries(
      namesIn(folder)
        .filter((name) => !isSkipped(name) && lstatSync(path.join(folder, name)).isDirectory())
        .map((name) => [name, readTree(path.join(folder, name), (below) => notContents.test(below))]),
    )
  const [index, vault, stored] = await Promise.all([
    unlessKnown(fixture, 'index', `${fixture.dir} ${all.index}`, () => readIndex(fixture)),
    readVault(fixture),
    readStore(fixture),
  ])
  return {
    files: readTree(fixture.dir, (name) => name === '.git'),
    git: Object.fromEntries(
      inGit.filter(([name]) => !/^(refs\/|packed-refs$|index$)/.test(name) && !isOurs(name) && !isLock(name)),
    ),
    index,
    refs: Object.fromEntries(Object.entries(refs).filter(([ref]) => !isOurRef(ref))),
    ourRefs: Object.fromEntries(Object.entries(refs).filter(([ref]) => isOurRef(ref))),
    workspaces: trees(base, (name) => name.startsWith('.')),
    trash: trees(path.join(base, '.trash'), () => false),
    strays: Object.keys(all).filter((name) => name.startsWith('offshoot-') || isLock(name)),
    children: namesIn(path.join(fixture.state, 'children')),
    ...vault,
    ...stored,
  }
}

function readRefs(gitDir: string, names: readonly string[]): Record<string, string> {
  const read = (name: string) => {
    try {
      return readFileSync(path.join(gitDir, name), 'latin1')
    } catch {
      return ''
    }
  }
  const packed = read('packed-refs')
    .split('\n')
    .filter((line) => /^[0-9a-f]{40} /.test(line))
    .map((line) => [line.slice(41), line.slice(0, 40)])
  const loose = names
    .filter((name) => name.startsWith('refs/') && !isLock(name))
    .map((name) => [name, read(name).trim()])
  return Object.fromEntries([...packed, ...loose])
}

async function readIndex(fixture: SimFixture): Promise<Snapshot['index']> {
  const listed = await fixture.git('ls-files', '--stage', '-z').catch(() => undefined)
  if (listed === undefined) return undefined
  const entries = listed
    .split('\0')
    .filter(Boolean)
    .map((line) => /^(\S+ \S+ \d)\t(.*)$/s.exec(line) ?? [])
  return Object.fromEntries(entries.map(([, entry, file]) => [`${file} ${entry?.at(-1)}`, entry ?? '']))
}

export function vaultOf(fixture: SimFixture): string | undefined {
  const vaults = path.join(fixture.state, 'vaults')
  const vault = path.join(vaults, namesIn(vaults)[0] ?? 'none')
  return existsSync(path.join(vault, 'HEAD')) ? vault : undefined
}

export async function inVault(fixture: SimFixture, ...args: string[]): Promise<string> {
  const env = { ...fixture.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(fixture.dir, '.git/objects') }
  return (await run('git', ['--git-dir', vaultOf(fixture)!, ...args], { env, maxBuffer: 1 << 26 })).stdout
}

/** What was read last, for as long as what it was read from is the same: most actions leave most of it alone. */
const known = new WeakMap<SimFixture, Map<string, { from: string; what: Promise<unknown> }>>()

function unlessKnown<T>(fixture: SimFixture, name: string, from: string, read: () => Promise<T>): Promise<T> {
  const own = known.get(fixture) ?? new Map<string, { from: string; what: Promise<unknown> }>()
  known.set(fixture, own)
  const last = own.get(name)
  if (last?.from === from) return last.what as Promise<T>
  const what = read()
  own.set(name, { from, what })
  return what
}

async function readVault(fixture: SimFixture): Promise<Pick<Snapshot, 'vault' | 'tips'>> {
  const vault = vaultOf(fixture)
  if (vault === undefined) return { vault: new Set(), tips: {} }
  const refs = path.join(vault, 'refs/tasks')
  const tips = namesIn(refs).filter((name) => !isLock(name) && !name.startsWith('.'))
  const list = () => inVault(fixture, 'rev-list', '--objects', '--no-object-names', '--all')
  const ids = async () => {
    const listed = await list().catch(() => undefined)
    return listed === undefined ? undefined : new Set(listed.split('\n'))
  }
  const from = JSON.stringify([fixture.dir, readTree(path.join(vault, 'refs'))])
  return {
    vault: await unlessKnown(fixture, 'vault', from, ids),
    tips: Object.fromEntries(tips.map((uid) => [uid, readFileSync(path.join(refs, uid), 'utf8').trim()])),
  }
}

type Stored = Pick<Snapshot, 'tasks' | 'pending' | 'operations' | 'done' | 'slimmed'>

async function readStore(fixture: SimFixture): Promise<Stored> {
  if (!existsSync(path.join(fixture.state, 'state.db')))
    return { tasks: [], pending: [], operations: [], done: [], slimmed: new Set() }
  return withPorts(fixture, async (ports) => ({
    tasks: await ports.store.readTasks({}),
    pending: await ports.store.readPendingTasks(),
    operations: await ops(ports, { dir: fixture.dir }),
    done: (await ports.store.readEvents({ types: ['operation.done'] })).flatMap(({ event }) =>
      event.type === 'operation.done' ? [event.id] : [],
    ),
    slimmed: new Set(
      await Promise.all(
        (await ports.store.readEvents({ types: ['trash.slimmed'] })).map(async ({ uid }) =>
          path.basename((await ports.store.findTaskByUid(uid))?.path ?? ''),
        ),
      ),
    ),
  }))
}

/** Looks with nothing in between, however broken the build is that plays. */
async function withPorts<T>(fixture: SimFixture, work: (ports: Composed) => Promise<T>): Promise<T> {
  const ports = fixture.ports({})
  try {
    return await work(ports)
  } finally {
    await ports.close()
  }
}

/** What the vault holds of an operation. */
export function readOperation(fixture: SimFixture, id: string): Promise<Operation | undefined> {
  return withPorts(fixture, async (ports) => {
    const [record] = await ports.repos.readAll()
    if (!record) return undefined
    const place = { commonDir: record.commonDir, gitDir: record.commonDir, checkout: fixture.dir }
    return (await ports.journal.findKept({ ...record, place }, id))?.record as Operation | undefined
  })
}
