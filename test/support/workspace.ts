/** What the journeys need around a repository: its worktrees, other folders of it, and the library on it. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import type { OpenRepo } from '../../src/index.ts'
import { openAround } from './open-around.ts'
import { cleanEnv, tempFolder, type TestRepo } from './repo.ts'

/** The same user, at work in another folder. */
export function inFolder(repo: TestRepo, dir: string): TestRepo {
  return {
    ...repo,
    dir,
    git: (...args) =>
      execFileSync('git', args, {
        cwd: dir,
        env: repo.env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    write(name, content) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
      writeFileSync(path.join(dir, name), content)
    },
  }
}

/** A user in an empty folder that is no repository; costs no git. */
export function nowhere(): TestRepo {
  const home = tempFolder()
  const blank: TestRepo = { dir: home, home, env: cleanEnv(home), git: () => '', write: () => {} }
  return inFolder(blank, home)
}

/** Another repository just like that one, with a home of its own. */
export function copyOf(repo: TestRepo): TestRepo {
  const home = tempFolder()
  cpSync(repo.dir, path.join(home, 'repo'), { recursive: true, preserveTimestamps: true })
  return inFolder({ ...repo, home, env: cleanEnv(home) }, path.join(home, 'repo'))
}

/** The same user, with more in the environment. */
export function withEnv(repo: TestRepo, more: Record<string, string>): TestRepo {
  return inFolder({ ...repo, env: { ...repo.env, ...more } }, repo.dir)
}

/** The library on that repository; closed when the test has ended. */
export function library(repo: TestRepo, options: ComposeOptions = {}) {
  const opened = openAround(repo.dir, { env: repo.env, ...options })
  onTestFinished(() => opened.close())
  return opened
}

/** The same for one verb alone: what it read is not known to the next one. */
export async function once<T>(repo: TestRepo, verb: (opened: OpenRepo) => Promise<T>): Promise<T> {
  const opened = openAround(repo.dir, { env: repo.env })
  try {
    return await verb(opened)
  } finally {
    await opened.close()
  }
}

/** Writes a file in the folder and commits it, as an agent would; answers the commit. */
export function commitFile(at: TestRepo, name: string, content: string): string {
  at.write(name, content)
  at.git('add', '--all', '--', name)
  at.git('commit', '--quiet', `--message=Write ${name}`)
  return at.git('rev-parse', 'HEAD').trim()
}

export interface ListedWorktree {
  readonly path: string
  readonly head: string | undefined
  readonly branch: string | undefined
}

/** What `git worktree list` tells of the linked worktrees; the main one is left out. */
export function linkedWorktrees(repo: TestRepo): ListedWorktree[] {
  const blocks = repo.git('worktree', 'list', '--porcelain').trim().split('\n\n')
  return blocks.slice(1).map((block) => {
    const field = (name: string) =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1)
    return {
      path: field('worktree') ?? '',
      head: field('HEAD'),
      branch: field('branch')?.replace('refs/heads/', ''),
    }
  })
}

export function branches(repo: TestRepo): string[] {
  return repo.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n').filter(Boolean)
}

/** The refs of offshoot's own: pins, the trash, the mark of the repository. */
export function ownRefs(repo: TestRepo): string[] {
  return repo.git('for-each-ref', '--format=%(refname)', 'refs/offshoot').split('\n').filter(Boolean)
}

/** Every workspace folder in the state folder, the trash left out. */
export function workspaceFolders(repo: TestRepo): string[] {
  const all = path.join(repo.env.OFFSHOOT_HOME ?? '', 'workspaces')
  if (!existsSync(all)) return []
  return readdirSync(all).flatMap((name) =>
    readdirSync(path.join(all, name))
      .filter((folder) => folder !== '.trash')
      .map((folder) => path.join(all, name, folder)),
  )
}
