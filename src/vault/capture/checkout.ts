/** Captures files of the user's own checkout, for verbs that land there. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { below, type BytePath, splitNul } from '../../core/model/bytes.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Found, Leaf } from '../../core/model/tree.ts'
import { scratchIn } from '../../core/model/layout.ts'
import { readTree } from '../objects/commit.ts'
import { changeTree, findLeaf } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { capture, type Captured } from './capture.ts'
import { parentOf } from './folders.ts'
import { showHidden } from './hidden.ts'
import { scanNamed } from './ignore-rule.ts'
import { findStat } from './overlay.ts'
import { scan } from './scan.ts'

/** Captures these files. A content of `known` is in the vault already. */
export async function captureFiles(
  vault: OpenVault,
  folder: string,
  paths: Iterable<BytePath>,
  known?: ReadonlyMap<BytePath, readonly (Leaf | null)[]>,
): Promise<Map<BytePath, Found>> {
  const found = new Map<BytePath, Found>()
  const obstacleOf = obstacles(folder)
  await eachOf(paths, 8, async (file) => {
    found.set(file, obstacleOf(file) ?? (await captureOne(vault, folder, file, known?.get(file))))
  })
  return found
}

/** Reports a link or a file in the place of a parent folder, and never follows it. Looks at each folder once. */
function obstacles(folder: string): (file: BytePath) => Found | undefined {
  const seen = new Map<BytePath, Found | undefined>()
  const obstacleOf = (file: BytePath): Found | undefined => {
    const parent = parentOf(file)
    if (parent === '' || seen.has(parent)) return seen.get(parent)
    const above = obstacleOf(parent)
    const there = above ? undefined : findStat(below(folder, parent))
    const blocked = there && !there.isDirectory()
    const found: Found | undefined =
      above ?? (blocked ? { kind: 'gone', blockedBy: parent } : there ? undefined : { kind: 'gone' })
    seen.set(parent, found)
    return found
  }
  return obstacleOf
}

async function captureOne(
  vault: OpenVault,
  folder: string,
  file: BytePath,
  known?: readonly (Leaf | null)[],
): Promise<Found> {
  const taken =
    findReading(vault, folder, file, known) ?? (await capture({ ...vault, workspace: folder }, file, known))
  if (taken.kind === 'skipped') return { kind: 'special' }
  if (taken.kind !== 'file') return { kind: taken.kind }
  vault.readings.note(`${folder}/${file}`, taken)
  return { kind: 'file', leaf: taken.leaf, permissions: Number(taken.stat.mode) & 0o777 }
}

/**
 * A file that was read before. Its content counts only if the caller knows it, since only then the vault surely has
 * it.
 */
function findReading(
  { readings }: OpenVault,
  folder: string,
  file: BytePath,
  known: readonly (Leaf | null)[] = [],
): Captured | undefined {
  const stat = known.length > 0 ? findStat(below(folder, file)) : undefined
  const leaf = stat && readings.find(`${folder}/${file}`, stat)
  return leaf && known.some((one) => one?.oid === leaf.oid) ? { kind: 'file', leaf, stat } : undefined
}

/**
 * Works on a copy of the checkout's index, so that git never changes the user's own. If the index is split, git looks
 * for the `sharedindex.*` files beside it, so they are copied, too.
 */
async function withIndex<T>(
  { vault, files }: OpenVault,
  { place: { gitDir } }: Repo,
  work: (copy: string) => Promise<T>,
): Promise<T> {
  const scratch = scratchIn(vault, `index-${process.pid}-${randomUUID()}`)
  await files.makeFolder(scratch)
  try {
    const names = (await files.readNames(gitDir)).filter((name) => name.startsWith('sharedindex.'))
    for (const name of ['index', ...names])
      await files.copy(path.join(gitDir, name), path.join(scratch, name))
    return await work(path.join(scratch, 'index'))
  } finally {
    await files.remove(scratch)
  }
}

/** The tree of all files: that of the index, which git writes, changed to the files as they are. */
export function captureAll(
  vault: OpenVault,
  repo: Repo,
  checkout: string,
  signal?: AbortSignal,
): Promise<string> {
  return withIndex(vault, repo, async (index) => {
    const changes = await captureEach(vault, checkout, await scanFiles(vault, checkout, index, signal))
    // Last, because git may rewrite the index here: a younger index would hide an edit made in its own second.
    const written = await vault.exec({
      args: ['write-tree', '--missing-ok'],
      gitDir: vault.vault,
      indexFile: index,
      cwd: vault.vault,
      signal,
    })
    const tree = written.stdout.toString().trim()
    await dropReplaced(vault, tree, changes)
    return (await changeTree(vault.objects, tree, changes.leaves)).tree
  })
}

/** Compares files with the index, and the index with the commit. A file that differs in neither is the commit's. */
export function captureChanges(
  vault: OpenVault,
  repo: Repo,
  checkout: string,
  commit: string,
  signal?: AbortSignal,
): Promise<Map<BytePath, Leaf | null>> {
  return withIndex(vault, repo, async (index) => {
    const scope = {
      gitDir: vault.vault,
      alternates: vault.alternates,
      indexFile: index,
      cwd: vault.vault,
      signal,
    }
    const args = ['diff-index', '--cached', '--no-renames', '--name-only', '-z', commit]
    const staged = splitNul((await vault.exec({ args, ...scope })).stdout)
    await showHidden((call) => vault.exec({ ...call, ...scope, workTree: checkout }))
    const found = await scanFiles(vault, checkout, index, signal)
    const tree = await readTree(vault, commit)
    const changes = await captureEach(vault, checkout, new Set([...staged, ...found]))
    await dropReplaced(vault, tree, changes)
    return changes.leaves
  })
}

/**
 * A folder in the place of a tracked file means that the file is gone; the folder of a submodule means the submodule.
 */
async function dropReplaced(vault: OpenVault, tree: string, { leaves, replaced }: Changes): Promise<void> {
  await eachOf(replaced, 8, async (file) => {
    if ((await findLeaf(vault.objects, tree, file))?.mode !== '160000') leaves.set(file, null)
  })
}

/** The files that both the patterns and the user's ignore rules match. */
export function findNamed(
  vault: OpenVault,
  repo: Repo,
  checkout: string,
  patterns: string,
  folders: boolean,
  signal?: AbortSignal,
): Promise<BytePath[]> {
  return withIndex(vault, repo, async (index) => {
    const rules = `${index}.rules`
    await vault.files.write(rules, `${patterns}\n`)
    try {
      const scope = { ...vault, workspace: checkout, index }
      return await scanNamed(vault.exec, scope, { rules, folders }, signal)
    } finally {
      await vault.files.remove(rules)
    }
  })
}

/** The files that git finds changed, without nested repositories. */
async function scanFiles(
  vault: OpenVault,
  checkout: string,
  index: string,
  signal?: AbortSignal,
): Promise<BytePath[]> {
  const found = await scan(vault.exec, { ...vault, workspace: checkout, index }, signal)
  return [...found].filter((file) => !file.endsWith('/'))
}

interface Changes {
  readonly leaves: Map<BytePath, Leaf | null>
  /** The paths at which there is a folder. */
  readonly replaced: readonly BytePath[]
}

async function captureEach(vault: OpenVault, checkout: string, files: Iterable<BytePath>): Promise<Changes> {
  const leaves = new Map<BytePath, Leaf | null>()
  const replaced: BytePath[] = []
  const obstacleOf = obstacles(checkout)
  await eachOf(files, 8, async (file) => {
    const found = obstacleOf(file) ?? (await captureOne(vault, checkout, file))
    if (found.kind === 'file') leaves.set(file, found.leaf)
    if (found.kind === 'gone') leaves.set(file, null)
    if (found.kind === 'folder') replaced.push(file)
  })
  return { leaves, replaced }
}
