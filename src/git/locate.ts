/** Finds the repository that a folder is in. */
import { quoted } from '../core/base/shell-quote.ts'
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import type { Place } from '../core/model/repo.ts'
import { isBare } from './bare.ts'
import type { GitExec } from './exec.ts'
import { readSmall, realPathOf, statOf } from './look.ts'

/** Loaded lazily: most repositories belong to the user, and then git is not needed. */
type LoadExec = () => Promise<GitExec>

/** Finds the repository of `dir` by reading the files that git reads; runs git only if another user owns it. */
export async function locate(load: LoadExec, dir: string): Promise<Place> {
  const start = realPathOf(dir)
  if (start === undefined)
    throw new AppError('notFound', `There is no folder ${dir}.`, {
      path: dir,
      hint: 'Name an existing folder with -C DIR.',
    })
  for (let folder = start; ; folder = path.dirname(folder)) {
    const place = placeAt(folder)
    if (place) {
      await requireTrusted(load, folder, place.commonDir)
      return place
    }
    if (folder === path.dirname(folder)) break
  }
  throw new AppError('notARepository', `${dir} is not in a git repository.`, { path: dir })
}

function placeAt(folder: string): Place | undefined {
  const dotGit = path.join(folder, '.git')
  const found = statOf(dotGit)
  if (found?.isDirectory() && isGitDir(dotGit)) return { commonDir: dotGit, gitDir: dotGit, checkout: folder }
  if (found?.isFile()) {
    const target = /^gitdir: (.+?)\r?\n?$/s.exec(readSmall(dotGit) ?? '')?.[1]
    if (target === undefined) throw new AppError('notARepository', `${dotGit} is damaged.`, { path: dotGit })
    const gitDir = realPathOf(path.resolve(folder, target))
    if (gitDir === undefined) {
      throw new AppError('notARepository', `${dotGit} points to ${target}, which is not there.`, {
        path: dotGit,
        hint: 'If the repository was moved, run git worktree repair in it.',
      })
    }
    return { commonDir: commonDirOf(gitDir), gitDir, checkout: folder }
  }
  if (isGitDir(folder) && hasNoCheckout(folder)) return { commonDir: folder, gitDir: folder, checkout: null }
  return undefined
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

/** Our git calls set GIT_DIR, which skips git's ownership check, so we make that check here by git's rules. */
async function requireTrusted(load: LoadExec, folder: string, commonDir: string): Promise<void> {
  const uid = process.getuid?.()
  if (uid === undefined || statOf(commonDir)?.uid === uid) return
  const exec = await load()
  const { code } = await exec({
    args: ['rev-parse', '--git-dir'],
    cwd: folder,
    config: 'user',
    expect: [128],
  })
  if (code === 0) return
  throw new AppError('notARepository', `${folder} belongs to another user, and git does not trust it.`, {
    path: folder,
    hint: `If you trust it: git config --global --add safe.directory ${quoted(folder)}`,
  })
}
