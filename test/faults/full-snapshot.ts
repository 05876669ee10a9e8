/** Everything that a verb could touch, read at one moment. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Ports } from '../../src/core/ports/index.ts'
import type { Repo } from '../../src/core/model/repo.ts'
import type { Step } from '../../src/core/model/step.ts'
import type { Task } from '../../src/core/model/task.ts'
import type { KnownOperation } from '../../src/core/operations/known.ts'
import { ops } from '../../src/core/verbs/ops.ts'
import type { Fixture } from './journey-runner.ts'
import { withoutTakenBack } from './reflogs.ts'
import { namesIn, readTree, type Tree } from './folder-tree.ts'

export interface Snapshot {
  /** What P1 speaks of: the checkout, and all of `.git` that is not ours. */
  readonly user: Tree
  readonly refs: Readonly<Record<string, string>>
  readonly status: string
  /** Our branch and everything below refs/offshoot. */
  readonly ourRefs: Readonly<Record<string, string>>
  /** Logs of refs of ours. */
  readonly ourLogs: readonly string[]
  readonly registrations: Readonly<Record<string, Tree>>
  readonly workspaces: Readonly<Record<string, Tree>>
  readonly trash: Readonly<Record<string, Tree>>
  /** Locks, drafts and half-made folders. */
  readonly strays: readonly string[]
  /** Records of git children. */
  readonly children: readonly string[]
  readonly open: readonly Task[]
  readonly closed: readonly Task[]
  readonly pending: readonly Task[]
  readonly events: number
  /** The steps in the vault, by the uid of their task. */
  readonly steps: Readonly<Record<string, readonly Step[]>>
  /** The operations that are done, newest first. */
  readonly operations: readonly KnownOperation[]
}

/** Where the workspaces go in the journeys that keep them inside the checkout. */
export const baseInside = '.spaces'
export const ourBranch = 'refs/heads/offshoot/T1'

const isOurRef = (ref: string) => ref.startsWith('refs/offshoot/') || ref.startsWith('refs/heads/offshoot/')
const isOurLog = (name: string) => name.startsWith('logs/') && isOurRef(name.slice('logs/'.length))
const isStray = (name: string) => /\.lock$|\.tmp$|\.new$/.test(name) || name.startsWith('offshoot-')

export async function readSnapshot(fixture: Fixture): Promise<Snapshot> {
  const gitDir = path.join(fixture.dir, '.git')
  const below = Object.keys(readTree(gitDir, (name) => name === 'objects'))
  const refs = readRefs(gitDir)
  const base = findBase(fixture)
  const inside = path.join(fixture.dir, baseInside)
  return {
    user: {
      ...readTree(fixture.dir, (name) => name === '.git' || name === baseInside),
      ...prefixed('.git', withoutTakenBack(gitDir, readTree(gitDir, isOursInGit))),
      ...(existsSync(path.join(fixture.home, 'hook-ran')) && { 'a hook': 'ran' }),
    },
    refs: Object.fromEntries(Object.entries(refs).filter(([ref]) => !isOurRef(ref))),
    // With the same files, index and HEAD it can differ only by workspaces that lie in the checkout.
    status: base === inside ? await fixture.git('status', '--porcelain', '--untracked-files=all') : '',
    ourRefs: Object.fromEntries(Object.entries(refs).filter(([ref]) => isOurRef(ref))),
    ourLogs: below.filter(isOurLog),
    registrations: trees(path.join(gitDir, 'worktrees')),
    workspaces: trees(base, (name) => name.startsWith('.')),
    trash: trees(path.join(base, '.trash')),
    strays: [
      ...below.filter((name) => isStray(name) || isStray(path.basename(name))),
      ...namesIn(gitDir).filter((name) => name.startsWith('offshoot-')),
      ...namesIn(path.join(base, '.pool')).filter((name) => name.includes('.')),
      ...(base === inside ? namesIn(inside).filter((name) => name.endsWith('.tmp')) : []),
    ],
    children: namesIn(path.join(fixture.state, 'children')),
    ...(await readStore(fixture)),
  }
}

function isOursInGit(name: string): boolean {
  const ours = ['objects', 'worktrees', 'refs', 'packed-refs'].includes(name)
  return ours || isOurLog(name) || isStray(name)
}

/** The one folder of this repository's workspaces. */
function findBase(fixture: Fixture): string {
  const inside = path.join(fixture.dir, baseInside)
  if (fixture.env.OFFSHOOT_WORKSPACE_BASE) return inside
  const all = path.join(fixture.state, 'workspaces')
  return path.join(all, namesIn(all)[0] ?? 'none')
}

function trees(folder: string, isSkipped: (name: string) => boolean = () => false): Record<string, Tree> {
  const names = namesIn(folder).filter((name) => !isSkipped(name))
  return Object.fromEntries(names.map((name) => [name, readTree(path.join(folder, name))]))
}

function prefixed(prefix: string, tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [`${prefix}/${name}`, value]))
}

/** Read as git keeps them: asking git for them at every point would take most of the time. */
function readRefs(gitDir: string): Record<string, string> {
  const packed = readText(path.join(gitDir, 'packed-refs'))
    .split('\n')
    .filter((line) => /^[0-9a-f]{40} /.test(line))
    .map((line) => [line.slice(41), line.slice(0, 40)])
  const loose = Object.keys(readTree(path.join(gitDir, 'refs')))
    .filter((name) => !isStray(name))
    .map((name) => [`refs/${name}`, readText(path.join(gitDir, 'refs', name)).trim()])
  return Object.fromEntries([...packed, ...loose])
}

/** The vault of the repository; undefined as long as it is not whole. */
export function findVault(fixture: Fixture): string | undefined {
  const vaults = path.join(fixture.state, 'vaults')
  const vault = path.join(vaults, namesIn(vaults)[0] ?? 'none')
  return existsSync(path.join(vault, 'HEAD')) ? vault : undefined
}

/** Of every task that has any, hidden or not. */
async function readSteps(fixture: Fixture, ports: Ports): Promise<Snapshot['steps']> {
  const steps: Record<string, Step[]> = {}
  const [record] = await ports.repos.readAll()
  const vault = findVault(fixture)
  if (!record || !vault) return steps
  const { commonDir } = record
  const repo: Repo = { ...record, place: { commonDir, gitDir: commonDir, checkout: fixture.dir } }
  for (const uid of namesIn(path.join(vault, 'refs/tasks')).filter((name) => !isStray(name))) {
    const task = await ports.store.findTaskByUid(uid)
    if (task) steps[uid] = await ports.steps.readSteps(repo, task)
  }
  return steps
}

/** How many, without the first time that an orphan is told: the first look of a recovery at all workspaces finds it. */
function countOnce(events: Awaited<ReturnType<Ports['store']['readEvents']>>): number {
  const orphans = new Set<string>()
  return events.filter(({ event, uid }) => {
    if (event.type !== 'orphan.found') return true
    const key = `${uid} ${event.path} ${event.kind}`
    return orphans.size === orphans.add(key).size
  }).length
}

type Stored = Pick<Snapshot, 'open' | 'closed' | 'pending' | 'events' | 'steps' | 'operations'>

async function readStore(fixture: Fixture): Promise<Stored> {
  const nothing = { open: [], closed: [], pending: [], events: 0, steps: {}, operations: [] }
  if (!existsSync(path.join(fixture.state, 'state.db'))) return nothing
  const ports = fixture.ports()
  try {
    const tasks = await ports.store.readTasks({})
    const open = await ports.store.readTasks({ open: true })
    const uids = new Set(open.map((task) => task.uid))
    return {
      open,
      closed: tasks.filter((task) => !uids.has(task.uid)),
      pending: await ports.store.readPendingTasks(),
      events: countOnce(await ports.store.readEvents({})),
      steps: await readSteps(fixture, ports),
      operations: await ops(ports, { dir: fixture.dir }),
    }
  } finally {
    await ports.close()
  }
}

/**
 * Processes, ours and git's, that still run for this fixture: they all carry its home folder in their environment.
 * A reader of objects is left out, as it ends with its input.
 */
export function runningFor(fixture: Fixture): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return []
  const mark = `\0HOME=${fixture.home}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).includes(mark))
    .map((pid) => ({ pid: Number(pid), command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') }))
    .filter(({ command }) => command !== '' && !command.includes('cat-file'))
}

/** Empty for a process that has ended, or is somebody else's. */
function environmentOf(pid: string): string {
  return `\0${readText(`/proc/${pid}/environ`)}`
}

/** Empty when it cannot be read. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
