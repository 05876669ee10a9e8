/**
 * A user's checkout, which only operations write: one file at a time, by rename, never through a link
 * (docs/adr/0015-operations-staged-then-finished.md).
 */
import { type BigIntStats, chmodSync, constants, lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { below, type BytePath, fromBytes, fromText, splitNul, toText } from '../core/model/bytes.ts'
import { quoted } from '../core/base/shell-quote.ts'
import { AppError } from '../core/model/errors.ts'
import { lookOf } from '../core/model/look.ts'
import type { IndexMove, Mode, Tracked } from '../core/model/tree.ts'
import type { Checkouts } from '../core/ports/checkouts.ts'
import type { HeldFolder } from '../core/ports/held.ts'
import type { GitExec } from '../git/exec.ts'
import { indexLines } from '../git/index-lines.ts'

export function gitCheckouts(exec: GitExec): Checkouts {
  return {
    // From the look at the file to the rename nothing may wait: in between, somebody else could write it.
    async place(staged, checkout, file, { mode, permissions: own }, seen) {
      const there = findStat(checkout, file)
      if (!isAsSeen(there, seen)) return undefined
      checkout.makeParents(file)
      if (mode === '160000') ignoringCodes(() => checkout.at(file, (target) => mkdirSync(target)), 'EEXIST')
      else {
        // Empty folders hold nothing; a file that somebody puts into one meanwhile keeps it.
        if (there?.isDirectory() && !removeEmptyFolders(checkout, file)) return undefined
        if (there?.isFile() && mode !== '120000' && own === undefined)
          chmodSync(staged, permissions(Number(there.mode), mode))
        checkout.at(
          file,
          (target) => renameSync(staged, target),
          (target) => renameSync(target, staged),
        )
      }
      return folderOf(checkout.root, file)
    },

    async removeFile(checkout, file, seen) {
      if (!isAsSeen(findStat(checkout, file), seen)) return undefined
      ignoringCodes(() => checkout.at(file, unlinkSync), 'ENOENT')
      for (let parent = parentOf(file); parent !== ''; parent = parentOf(parent))
        if (!checkout.removeEmpty(parent)) return folderOf(checkout.root, `${parent}/x`)
      return checkout.root
    },

    async readFilesBelow(checkout, folder) {
      const found: BytePath[] = []
      const entries = await readdir(below(checkout, folder), { withFileTypes: true, encoding: 'buffer' })
      for (const entry of entries) {
        const full = `${folder}/${fromBytes(entry.name)}`
        if (entry.isDirectory()) found.push(...(await this.readFilesBelow(checkout, full)))
        else found.push(full)
      }
      return found
    },

    async readNames(checkout, folder) {
      const names = await readdir(below(checkout, folder), { encoding: 'buffer' }).catch(() => [])
      return names.map(fromBytes)
    },

    lockIndex,
    unlockIndex,
    placeIndex,
    changeIndex: (gitDir, moves, staging) => changeIndex(exec, gitDir, moves, staging),
    readMergeRules: (checkout, gitDir, files) => readMergeRules(exec, checkout, gitDir, files),
    readTracked: (gitDir, files) => readTracked(exec, gitDir, files),
  }
}

/** undefined when nothing is there, nor a folder for it. */
function findStat(checkout: HeldFolder, file: BytePath): BigIntStats | undefined {
  try {
    return checkout.at(file, (target) => lstatSync(target, { bigint: true, throwIfNoEntry: false }))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}

/** Removes a folder with all the empty ones below it. Answers false, and may have removed some of them, if a file is there. */
function removeEmptyFolders(checkout: HeldFolder, folder: BytePath): boolean {
  for (const { name, isFolder } of checkout.list(folder))
    if (isFolder) removeEmptyFolders(checkout, `${folder}/${name}`)
  return checkout.removeEmpty(folder)
}

/** A folder is no file: a landing may have emptied it. */
function isAsSeen(there: BigIntStats | undefined, seen: string | undefined): boolean {
  const look = there && !there.isDirectory() ? lookOf(there) : undefined
  return look === seen
}

/** Keeps the permissions of the existing file, which may be private; git only decides whether it is executable. */
export function permissions(before: number, mode: Mode): number {
  const bits = before & 0o777
  if (mode !== '100755') return bits & ~0o111
  return bits & 0o100 ? bits : bits | ((bits & 0o444) >> 2)
}

function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

function folderOf(checkout: string, file: BytePath): string {
  return path.join(checkout, toText(parentOf(file)))
}

function ignoringCodes(act: () => unknown, ...codes: string[]): void {
  try {
    act()
  } catch (thrown) {
    ignoreCodes(...codes)(thrown as NodeJS.ErrnoException)
  }
}

function ignoreCodes(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}

/**
 * Takes git's own lock. Ours is a hard link to a file of ours: after a crash the inode proves that we made the lock,
 * and not a git of the user's.
 */
async function lockIndex(gitDir: string, staging: string): Promise<void> {
  await mkdir(staging, { recursive: true, mode: 0o700 })
  await writeFile(markOf(staging), '', { flag: 'a' })
  try {
    await link(markOf(staging), lockOf(gitDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (await isOurs(gitDir, staging)) return
    throw new AppError('locked', `Another git is at work here, or left ${lockOf(gitDir)} behind.`, {
      path: lockOf(gitDir),
      hint: `Wait for it to end; if none is running: rm ${quoted(lockOf(gitDir))}`,
    })
  }
}

async function unlockIndex(gitDir: string, staging: string): Promise<void> {
  if (await isOurs(gitDir, staging)) await unlink(lockOf(gitDir))
}

function lockOf(gitDir: string): string {
  return path.join(gitDir, 'index.lock')
}

function markOf(staging: string): string {
  return path.join(staging, 'lock')
}

async function isOurs(gitDir: string, staging: string): Promise<boolean> {
  const [mark, lock] = await Promise.all(
    [markOf(staging), lockOf(gitDir)].map((file) => stat(file).catch(() => undefined)),
  )
  return mark !== undefined && lock !== undefined && mark.ino === lock.ino && mark.dev === lock.dev
}

async function placeIndex(gitDir: string, staging: string): Promise<void> {
  await lockIndex(gitDir, staging)
  // ENOENT: the index was already put in place before a crash.
  await rename(path.join(staging, 'index'), path.join(gitDir, 'index')).catch(ignoreCodes('ENOENT'))
  await unlockIndex(gitDir, staging)
}

async function changeIndex(
  exec: GitExec,
  gitDir: string,
  moves: readonly IndexMove[],
  staging: string,
): Promise<void> {
  await lockIndex(gitDir, staging)
  const [index, draft] = [path.join(gitDir, 'index'), path.join(staging, 'index')]
  // A killed git may have left its lock. The staging folder is ours, so no other git uses this draft.
  for (const left of [draft, `${draft}.lock`]) await rm(left, { force: true })
  await copyFile(index, draft, constants.COPYFILE_FICLONE).catch(ignoreCodes('ENOENT'))
  const before = await stat(index).catch(() => undefined)
  const scope = { gitDir, workTree: gitDir, indexFile: draft, cwd: gitDir, durable: true } as const
  await exec({ args: ['update-index', '-z', '--index-info'], stdin: indexLines(moves), ...scope })
  // A new entry has no flags. Without skip-worktree, a file outside of the sparse cone would look deleted.
  const leftOut = moves.filter(({ to }) => to?.isLeftOut)
  const stdin = Buffer.from(leftOut.map((move) => `${move.path}\0`).join(''), 'latin1')
  if (leftOut.length > 0)
    await exec({ args: ['update-index', '--skip-worktree', '-z', '--stdin'], stdin, ...scope })
  const handle = await open(draft, 'r+')
  try {
    // Git rereads files that are as young as the index. If the index became younger, git would miss an edit that the
    // user
    // made in the second of their `git add` without changing the size.
    if (before) await handle.utimes(before.atime, before.mtime)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, index)
  await unlockIndex(gitDir, staging)
}

async function readMergeRules(exec: GitExec, checkout: string, gitDir: string, files: readonly BytePath[]) {
  const rules = new Map<BytePath, 'union' | 'binary'>()
  if (files.length === 0) return rules
  const { stdout } = await exec({
    args: ['check-attr', '-z', '--stdin', 'merge'],
    stdin: Buffer.from(files.map((file) => `${file}\0`).join(''), 'latin1'),
    gitDir,
    workTree: checkout,
    cwd: checkout,
    config: 'user',
  })
  const fields = splitNul(stdout)
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [file = '', , value = ''] = fields.slice(at, at + 3)
    if (value === 'union') rules.set(file, 'union')
    // We run no merge driver: a file that needs one counts as a conflict.
    else if (!['unspecified', 'set', 'text'].includes(value)) rules.set(file, 'binary')
  }
  return rules
}

async function readTracked(
  exec: GitExec,
  gitDir: string,
  files: readonly BytePath[],
): Promise<Map<BytePath, Tracked>> {
  const wanted = new Set(files)
  const tracked = new Map<BytePath, Tracked>()
  if (wanted.size === 0) return tracked
  // Few paths go onto the command line, which can hold text only; for many, listing the whole index is quicker.
  const isShort = files.length <= 200 && files.every((file) => fromText(toText(file)) === file)
  const named = isShort ? ['--', ...files.map(toText)] : []
  const { stdout } = await exec({
    args: ['ls-files', '-z', '-s', '-t', ...named],
    gitDir,
    workTree: gitDir,
    cwd: gitDir,
  })
  for (const line of splitNul(stdout)) {
    const [, tag, mode = '', oid = '', stage, file = ''] = /^(\w) (\d+) (\w+) (\d)\t(.*)$/s.exec(line) ?? []
    let asked = file
    while (asked !== '' && !wanted.has(asked)) asked = parentOf(asked)
    // An unmerged entry equals no content.
    if (asked !== '')
      tracked.set(file, {
        mode: mode as Mode,
        oid: stage === '0' ? oid : '',
        ...(tag === 'S' && { isLeftOut: true }),
      })
  }
  return tracked
}
