/** `start` and `worktree remove`, against `git worktree add` and `remove`. */
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { library } from '../built.ts'
import type { OpenRepo } from '../../src/index.ts'
import type { TimedCase } from '../case.ts'
import { newName, spread } from '../folders.ts'
import { type BenchRepo, fileName } from '../repos.ts'
import { run } from '../spawn.ts'
import type { BenchRepos } from '../bench-repos.ts'

export function start(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'start : git worktree add',
    files,
    bar,
    prepare: async (repos) => {
      const { ours, raw, close } = await both(repos, files)
      return {
        ours: { run: ours.make, after: ours.drop },
        raw: { run: raw.make, after: raw.drop },
        close,
      }
    },
  }
}

/** From a checkout with ten changed and ten new files, against a stash that is applied in a worktree. */
export function startDirty(files: number, bar?: number): TimedCase {
  return {
    kind: 'timed',
    name: 'start --dirty : stash apply',
    files,
    ...(bar === undefined ? {} : { bar }),
    prepare: async (repos) => {
      const repo = await repos.repo(files, 'dirty')
      for (let n = 0; n < 10; n++) {
        await appendFile(path.join(repo.dir, fileName(n * 5)), 'changed\n')
        await writeFile(path.join(repo.dir, `new-${n}.ts`), 'new\n')
      }
      await run('git', ['add', '--all'], { cwd: repo.dir, env: repo.env })
      const ours = await oursIn(repo, repos, { dirty: true })
      const raw = await rawIn(repo, repos)
      return {
        ours: { run: ours.make, after: ours.drop },
        raw: { run: raw.makeDirty, after: raw.drop },
        close: ours.close,
      }
    },
  }
}

export function remove(files: number, bar?: number): TimedCase {
  return {
    kind: 'timed',
    name: 'remove : git worktree remove',
    files,
    ...(bar === undefined ? {} : { bar }),
    prepare: async (repos) => {
      const { ours, raw, close } = await both(repos, files)
      return {
        ours: { before: ours.make, run: ours.remove, after: ours.emptyTrash },
        raw: { before: raw.make, run: raw.remove, after: repos.settle },
        close,
      }
    },
  }
}

async function both(repos: BenchRepos, files: number) {
  const repo = await repos.repo(files)
  const ours = await oursIn(repo, repos)
  return { ours, raw: await rawIn(repo, repos), close: ours.close }
}

/** One open handle for all rounds, as a program that uses the library has. */
async function oursIn(repo: BenchRepo, { bury, settle }: BenchRepos, more: { dirty?: boolean } = {}) {
  const { openRepo } = await library()
  const handle = openRepo(repo.dir, { env: repo.env })
  let task = ''
  let trash: string | null = null
  const make = async () => {
    task = newName('task')
    return handle.start({ task, ...more })
  }
  const remove = async () => {
    trash = (await handle.remove({ task, force: true })).trash
  }
  const emptyTrash = async () => {
    if (trash !== null) await bury(trash)
    await rm(path.join(repo.dir, '.git/refs/offshoot/trash'), { recursive: true, force: true })
    await settle()
  }
  const drop = async () => {
    await remove()
    await emptyTrash()
  }
  const first = await make()
  await spread(path.dirname(first.task.path))
  await drop()
  return { make, remove, emptyTrash, drop, close: () => handle.close() }
}

/** Takes a task and all that it leaves in the trash out of the way. */
export async function dropped(
  repo: BenchRepo,
  { bury, settle }: BenchRepos,
  handle: OpenRepo,
  task: string,
): Promise<void> {
  const { trash } = await handle.remove({ task, force: true })
  if (trash !== null) await bury(trash)
  await rm(path.join(repo.dir, '.git/refs/offshoot/trash'), { recursive: true, force: true })
  await settle()
}

export async function rawIn(repo: BenchRepo, { bury, settle }: BenchRepos) {
  const at = { cwd: repo.dir, env: repo.env }
  const folder = path.join(path.dirname(repo.dir), 'raw')
  let name = ''
  await mkdir(folder, { recursive: true })
  await spread(folder)
  const make = () => {
    name = newName('task')
    return run('git', ['worktree', 'add', '-b', `raw/${name}`, path.join(folder, name)], at)
  }
  return {
    make,
    path: () => path.join(folder, name),
    makeDirty: async () => {
      const stash = (await run('git', ['stash', 'create'], at)).trim()
      await make()
      await run('git', ['stash', 'apply', '--quiet', stash], { ...at, cwd: path.join(folder, name) })
    },
    remove: async () => {
      await run('git', ['worktree', 'remove', '--force', path.join(folder, name)], at)
      await run('git', ['branch', '-D', `raw/${name}`], at)
    },
    drop: async () => {
      await bury(path.join(folder, name))
      await run('git', ['worktree', 'prune'], at)
      await run('git', ['branch', '-D', `raw/${name}`], at)
      await settle()
    },
  }
}
