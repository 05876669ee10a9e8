/** Finds the repository that a folder is in, and refuses what git would refuse (docs/adr/0033-which-repository-it-is.md). */
import { quoted } from '../core/base/shell-quote.ts'
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import type { Place } from '../core/model/repo.ts'
import { isBare } from './bare.ts'
import type { GitExec } from './exec.ts'
import { entriesOf, readSmall, realPathOf, statOf } from './look.ts'
import { foreignParts } from './owner.ts'

export interface LocateOptions {
  /** Git, which is needed only where another user owns a part. Loaded lazily: most repositories belong to the user. */
  readonly exec: () => Promise<GitExec>
  /** Whether the user named that bare repository, now or before. */
  readonly isNamed?: (folder: string) => Promise<boolean>
}

/** Finds the repository of `dir` by reading the files that git reads; runs git only if another user owns a part of it. */
export async function locate({ exec, isNamed }: LocateOptions, dir: string): Promise<Place> {
  const start = realPathOf(dir)
  if (start === undefined)
    throw new AppError('notFound', `There is no folder ${dir}.`, {
      path: dir,
      hint: 'Name an existing folder with -C DIR.',
    })
  for (const folder of upwards(start)) {
    const place = checkoutAt(folder) ?? bareAt(folder)
    if (!place) continue
    if (place.checkout === null && !(await isNamed?.(folder))) requireApart(folder)
    await requireOwned(exec, folder, place)
    return place
  }
  throw new AppError('notARepository', `${dir} is not in a git repository.`, { path: dir })
}

function* upwards(start: string): Generator<string> {
  for (let folder = start; ; folder = path.dirname(folder)) {
    yield folder
    if (folder === path.dirname(folder)) return
  }
}

function checkoutAt(folder: string): Place | undefined {
  const dotGit = path.join(folder, '.git')
  const found = statOf(dotGit)
  if (found?.isDirectory() && isGitDir(dotGit)) return { commonDir: dotGit, gitDir: dotGit, checkout: folder }
  if (!found?.isFile()) return undefined
  const target = /^gitdir: (.+?)\r?\n?$/s.exec(readSmall(dotGit) ?? '')?.[1]
  if (target === undefined)
    throw new AppError('notARepository', `${dotGit} is damaged.`, { path: dotGit, hint: repairHint })
  const gitDir = realPathOf(path.resolve(folder, target))
  if (gitDir === undefined) {
    throw new AppError('notARepository', `${dotGit} points to ${target}, which is not there.`, {
      path: dotGit,
      hint: repairHint,
    })
  }
  const commonDir = commonDirOf(gitDir)
  if (commonDir !== gitDir) requireRegistered(folder, gitDir, commonDir)
  return { commonDir, gitDir, checkout: folder }
}

const repairHint = 'If it is a worktree, run in its repository: git worktree repair'

function bareAt(folder: string): Place | undefined {
  if (!isGitDir(folder) || !hasNoCheckout(folder)) return undefined
  return { commonDir: folder, gitDir: folder, checkout: null }
}

function commonDirOf(gitDir: string): string {
  const text = readSmall(path.join(gitDir, 'commondir'))
  return text === undefined ? gitDir : realpathSync.native(path.resolve(gitDir, text.trim()))
}

function isGitDir(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => statOf(path.join(folder, name)) !== undefined)
}

/**
 * Whether no checkout belongs to the git folder, as far as its own files say. A submodule's folder counts as apart,
 * too.
 */
function hasNoCheckout(gitDir: string): boolean {
  return path.basename(gitDir) !== '.git' || isBare(gitDir)
}

/** A worktree counts if its repository has it registered: else anybody's `.git` file could name anybody's repository. */
function requireRegistered(folder: string, gitDir: string, commonDir: string): void {
  const dotGit = path.join(folder, '.git')
  const back = readSmall(path.join(gitDir, 'gitdir'))?.trim()
  const registered = back === undefined ? undefined : path.resolve(gitDir, back)
  const isIn = path.dirname(gitDir) === path.join(commonDir, 'worktrees')
  // Nothing there any more: the worktree was moved, and this is where it is now.
  const leadsBack =
    registered !== undefined &&
    (statOf(registered) === undefined || realPathOf(registered) === realPathOf(dotGit))
  if (isIn && leadsBack) return
  throw new AppError('notARepository', `${folder} is not registered as a worktree of ${commonDir}.`, {
    path: dotGit,
    hint: `If it is one of yours: git -C ${quoted(commonDir)} worktree repair ${quoted(folder)}`,
  })
}

/** A folder of a checkout can have the looks of a bare repository, with a config that the checkout's author wrote. */
function requireApart(bare: string): void {
  // Nobody can track files below a folder called .git.
  if (bare.split(path.sep).includes('.git')) return
  for (const folder of upwards(path.dirname(bare))) {
    if (!holdsSomething(path.join(folder, '.git'))) continue
    throw new AppError('notARepository', `${bare} looks like a bare repository inside of ${folder}.`, {
      path: bare,
      hint: `If it is one of yours, name it: offshoot -C ${quoted(bare)} list`,
    })
  }
}

/** Sandboxes of agents leave an empty `.git` in the temporary folder, which makes no checkout of it. */
function holdsSomething(dotGit: string): boolean {
  return statOf(dotGit) !== undefined && entriesOf(dotGit)?.length !== 0
}

/** Our git calls set GIT_DIR, which skips git's ownership check, so we make that check here by git's rules. */
async function requireOwned(load: LocateOptions['exec'], folder: string, place: Place): Promise<void> {
  const foreign = foreignParts(folder, place)
  if (foreign.length === 0) return
  const exec = await load()
  // git does not look at the owner of the common folder, so it is asked about that folder by itself.
  const { commonDir, gitDir } = place
  const isCommonAlone = commonDir !== gitDir && foreign.every((part) => part === commonDir)
  const cwd = isCommonAlone ? commonDir : folder
  // Whether a bare repository is meant has been decided above.
  const args = ['-c', 'safe.bareRepository=all', 'rev-parse', '--git-dir']
  if ((await exec({ args, cwd, config: 'user', expect: [128] })).code === 0) return
  throw new AppError('notARepository', `${foreign[0]} belongs to another user, and git does not trust it.`, {
    path: foreign[0],
    hint: `If you trust it: git config --global --add safe.directory ${quoted(cwd)}`,
  })
}
