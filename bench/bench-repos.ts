/** The repositories that the cases share, each made once. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { newName, spread } from './folders.ts'
import { type BenchRepo, makeRepo } from './repos.ts'
import { run } from './spawn.ts'

export interface BenchRepos {
  /** A repository of that many files. The same name and number give the same one. */
  repo(files: number, name?: string): Promise<BenchRepo>
  /** Moves a folder away instead of deleting it: deleting thousands of files would slow down the next round, see `spread`. */
  readonly bury: (folder: string) => Promise<void>
  /** Waits until the disk has nothing left to write, or our syncs would pay for the clean-up before them. */
  readonly settle: () => Promise<unknown>
}

/** Makes everything below one temporary folder in `base`, and deletes that when the process ends. */
export async function makeBenchRepos(base = os.tmpdir()): Promise<BenchRepos> {
  mkdirSync(base, { recursive: true })
  const folder = realpathSync(mkdtempSync(path.join(base, 'offshoot-bench-')))
  const buried = path.join(folder, 'buried')
  mkdirSync(buried)
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true })
    spawnSync('sync')
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
  await spread(folder)
  const repos = new Map<string, Promise<BenchRepo>>()
  return {
    repo(files, name = 'plain') {
      const key = `${name}-${files}`
      const made = repos.get(key) ?? makeRepo(path.join(folder, newName(key)), files)
      repos.set(key, made)
      return made
    },
    bury: (target) => rename(target, path.join(buried, newName('was'))),
    settle: () =>
      run('sync', process.platform === 'linux' ? ['--file-system', folder] : [], {
        cwd: folder,
        env: process.env,
      }),
  }
}
