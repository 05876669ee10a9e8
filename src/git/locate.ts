import { readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../core/errors.ts'
import type { Place } from '../core/ports.ts'
import type { GitExec } from './exec.ts'

/** Most repositories are the user's own: then git is never asked, nor loaded. */
type LoadExec = () => Promise<GitExec>

/** Finds the repository that `dir` is in, by reading what git itself reads; spawns git only for a foreign owner. */
export async function locate(load: LoadExec, dir: string): Promise<Place> {
  const start = await realpath(dir).catch(() => undefined)
  if (start === undefined) throw new AppError('WT_005', `There is no folder ${dir}.`, { path: dir })
  for (let folder = start; ; folder = path.dirname(folder)) {
    const place = await placeAt(folder)
    if (place) {
      await requireTrusted(load, folder, place.commonDir)
      return place
    }
    if (folder === path.dirname(folder)) break
  }
  throw new AppError('WT_009', `${dir} is not in a git repository.`, { path: dir })
}

async function placeAt(folder: string): Promise<Place | undefined> {
  const dotGit = path.join(folder, '.git')
  const found = await stat(dotGit).catch(() => undefined)
  if (found?.isDirectory() && (await isGitDir(dotGit)))
    return { commonDir: dotGit, gitDir: dotGit, checkout: folder }
  if (found?.isFile()) {
    const target = /^gitdir: (.+?)\r?\n?$/s.exec(await readFile(dotGit, 'utf8'))?.[1]
    if (target === undefined) throw new AppError('WT_009', `${dotGit} is damaged.`, { path: dotGit })
    const gitDir = await realpath(path.resolve(folder, target)).catch(() => undefined)
    if (gitDir === undefined) {
      throw new AppError('WT_009', `${dotGit} points to ${target}, which is not there.`, {
        path: dotGit,
        hint: 'If the repository was moved, run git worktree repair in it.',
      })
    }
    return { commonDir: await commonDirOf(gitDir), gitDir, checkout: folder }
  }
  if ((await isGitDir(folder)) && (await isBare(folder)))
    return { commonDir: folder, gitDir: folder, checkout: null }
  return undefined
}

async function commonDirOf(gitDir: string): Promise<string> {
  const text = await readFile(path.join(gitDir, 'commondir'), 'utf8').catch(() => undefined)
  return text === undefined ? gitDir : realpath(path.resolve(gitDir, text.trim()))
}

async function isGitDir(folder: string): Promise<boolean> {
  const parts = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => stat(path.join(folder, name)).catch(() => undefined)),
  )
  return parts.every((part) => part !== undefined)
}

async function isBare(folder: string): Promise<boolean> {
  const config = await readFile(path.join(folder, 'config'), 'utf8').catch(() => '')
  return path.basename(folder) !== '.git' || /^\s*bare\s*=\s*true/m.test(config)
}

/** Our own calls name the repository outright, which skips git's ownership test: so it is made here, by git's rules. */
async function requireTrusted(load: LoadExec, folder: string, commonDir: string): Promise<void> {
  const uid = process.getuid?.()
  if (uid === undefined || (await stat(commonDir)).uid === uid) return
  const exec = await load()
  const { code } = await exec({
    args: ['rev-parse', '--git-dir'],
    cwd: folder,
    config: 'user',
    expect: [128],
  })
  if (code === 0) return
  throw new AppError('WT_009', `${folder} belongs to another user, and git does not trust it.`, {
    path: folder,
    hint: `If you trust it: git config --global --add safe.directory '${folder}'`,
  })
}
