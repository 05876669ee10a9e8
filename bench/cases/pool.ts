/** `start` from a workspace that was made ahead. Making it is not measured, because no user waits for it (docs/adr/0022-workspaces-made-ahead.md). */
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { OpenRepo } from '../../src/index.ts'
import { bin, library } from '../built.ts'
import type { TimedCase } from '../case.ts'
import { newName } from '../folders.ts'
import type { Side } from '../measure.ts'
import type { BenchRepo } from '../repos.ts'
import { run } from '../spawn.ts'
import type { BenchRepos } from '../bench-repos.ts'
import { dropped, rawIn } from './worktree.ts'

export function handOver(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'start, pool : git worktree add',
    files,
    bar,
    prepare: async (repos) => {
      const repo = await repos.repo(files)
      const { close, ...ours } = await fromPool(repo, repos)
      const raw = await rawIn(repo, repos)
      return { ours, raw: { run: raw.make, after: raw.drop }, close }
    },
  }
}

export function handOverGrowth(many: number, few: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `start, pool : the same with ${few.toLocaleString('en')}`,
    files: many,
    bar,
    prepare: async (repos) => {
      const ours = await fromPool(await repos.repo(many), repos)
      const raw = await fromPool(await repos.repo(few), repos)
      const close = async () => void (await Promise.all([ours.close(), raw.close()]))
      return { ours, raw, close }
    },
  }
}

/** The first `git status` in the workspace. */
export function firstStatus(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'first status, pool : after add',
    files,
    bar,
    prepare: async (repos) => {
      const repo = await repos.repo(files)
      const pooled = await fromPool(repo, repos)
      const raw = await rawIn(repo, repos)
      const status = (cwd: string) => run('git', ['status', '--porcelain'], { cwd, env: repo.env })
      const before = async () => {
        await pooled.before()
        await pooled.run()
      }
      return {
        ours: { before, run: () => status(pooled.path()), after: pooled.after },
        raw: { before: raw.make, run: () => status(raw.path()), after: raw.drop },
        close: pooled.close,
      }
    },
  }
}

/** The whole `offshoot start` process. */
export function startAgainstNode(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'offshoot start, pool : node -e 0',
    files,
    bar,
    prepare: async (repos) => {
      const repo = await repos.repo(files)
      const pooled = await fromPool(repo, repos)
      const env = withPool(repo)
      const start = async () => {
        const task = newName('task')
        const args = [bin, 'start', task, '--json']
        pooled.made(task, JSON.parse(await run(process.execPath, args, { cwd: repo.dir, env })).task.path)
      }
      const bare = () => run(process.execPath, ['-e', '0'], { cwd: repo.dir, env })
      return {
        ours: { before: pooled.before, run: start, after: pooled.after },
        raw: { run: bare },
        close: pooled.close,
      }
    },
  }
}

interface Pooled extends Side {
  before(): Promise<void>
  after(): Promise<void>
  /** The folder of the last workspace. */
  path(): string
  made(task: string, path: string): void
  close(): Promise<void>
}

/** With the default settings. */
function withPool(repo: BenchRepo) {
  const { OFFSHOOT_POOL_SIZE: _, ...env } = repo.env
  return env
}

async function fromPool(repo: BenchRepo, repos: BenchRepos): Promise<Pooled> {
  const { openRepo } = await library()
  const env = withPool(repo)
  const handle = openRepo(repo.dir, { env, background: false })
  let last = { task: '', path: '' }
  const made = (task: string, folder: string) => {
    last = { task, path: folder }
  }
  return {
    before: async () => {
      await untilFull(handle)
      await repos.settle()
    },
    run: async () => {
      const task = newName('task')
      made(task, (await handle.start({ task })).task.path)
    },
    after: () => dropped(repo, repos, handle, last.task),
    path: () => path.resolve(last.path),
    made,
    close: () => handle.close(),
  }
}

/** Retries while a background process of an earlier round holds the pool. */
async function untilFull(handle: OpenRepo): Promise<void> {
  for (;;) {
    const filled = await handle.pool().catch((error: { problem?: string }) => {
      if (error.problem !== 'locked') throw error
      return undefined
    })
    if (filled?.slots === 1) return
    if (filled) throw new Error('Nothing was made ahead.')
    await pause(50)
  }
}
