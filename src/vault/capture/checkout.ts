/** Captures files of the user's own checkout, for verbs that land there. */
import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { type BytePath, splitNul } from '../../core/model/bytes.ts'
import { lookOf } from '../../core/model/look.ts'
import type { Follow } from '../../core/model/progress.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Found, Leaf } from '../../core/model/tree.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { HeldFolder } from '../../core/ports/held.ts'
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
  folder: string | HeldFolder,
  paths: Iterable<BytePath>,
  known?: ReadonlyMap<BytePath, readonly (Leaf | null)[]>,
  { signal, count }: Follow = {},
): Promise<Map<BytePath, Found>> {
  const found = new Map<BytePath, Found>()
  const files = [...paths]
  await withHeld(vault, folder, async (held) => {
    const obstacleOf = obstacles(held)
    const captureNext = async (file: BytePath) => {
      found.set(file, obstacleOf(file) ?? (await captureOne(vault, held, file, known?.get(file))))
    }
    await eachOf(files, 8, captureNext, { signal, onEach: count?.(files.length) })
  })
  return found
}

/** A folder that the caller holds already stays open. */
async function withHeld<T>(
  { files }: OpenVault,
  folder: string | HeldFolder,
  work: (held: HeldFolder) => Promise<T>,
): Promise<T> {
  if (typeof folder !== 'string') return work(folder)
  const held = files.hold(folder)
  try {
    return await work(held)
  } finally {
    held.close()
  }
}

const notThere = {
  folder: () => undefined,
  blocked: (parent: BytePath): Found => ({ kind: 'gone', blockedBy: parent }),
  missing: (): Found => ({ kind: 'gone' }),
}

/** Reports a link or a file in the place of a parent folder, and never follows it. Looks at each folder once. */
function obstacles(held: HeldFolder): (file: BytePath) => Found | undefined {
  const seen = new Map<BytePath, Found | undefined>()
  const obstacleOf = (file: BytePath): Found | undefined => {
    const parent = parentOf(file)
    if (parent === '' || seen.has(parent)) return seen.get(parent)
    const above = obstacleOf(parent)
    const found = above ?? notThere[held.look(parent)](parent)
    seen.set(parent, found)
    return found
  }
  return obstacleOf
}

/** undefined when nothing is there, or a link is in the place of a parent. */
function findStatIn(held: HeldFolder, file: BytePath): BigIntStats | undefined {
  try {
    return held.at(file, findStat)
  } catch {
    return undefined
  }
}

async function captureOne(
  vault: OpenVault,
  held: HeldFolder,
  file: BytePath,
  known?: readonly (Leaf | null)[],
): Promise<Found> {
  const taken =
    findReading(vault, held, file, known) ??
    (await capture({ ...vault, workspace: held.root, held }, file, known))
  if (taken.kind === 'skipped') return { kind: 'special' }
  if (taken.kind !== 'file') return { kind: taken.kind }
  vault.readings.note(`${held.root}/${file}`, taken)
  const permissions = Number(taken.stat.mode) & 0o777
  return { kind: 'file', leaf: taken.leaf, permissions, look: lookOf(taken.stat) }
}

/**
 * A file that was read before. Its content counts only if the caller knows it, since only then the vault surely has
 * it.
 */
function findReading(
  { readings }: OpenVault,
  held: HeldFolder,
  file: BytePath,
  known: readonly (Leaf | null)[] = [],
): Captured | undefined {
  const stat = known.length > 0 ? findStatIn(held, file) : undefined
  const leaf = stat && readings.find(`${held.root}/${file}`, stat)
  return leaf && known.some((one) => one?.oid === leaf.oid) ? { kind: 'file', leaf, stat } : undefined
}

/**
 * Works on a copy of the checkout's index, so that git never changes the user's own. If the index is split, git looks
 * for the `sharedindex.*` files beside it, so they are copied, too.
 */
export async function withIndex<T>(
  vault: OpenVault,
  repo: Repo,
  work: (copy: string) => Promise<T>,
): Promise<T> {
  const scratch = scratchIn(vault.vault, `index-${process.pid}-${randomUUID()}`)
  try {
    return await work(await copyIndex(vault, repo, scratch))
  } finally {
    await vault.files.remove(scratch)
  }
}

/** Copies the checkout's index into a new folder, with its times, and answers the copy. */
export async function copyIndex(
  { files }: OpenVault,
  { place: { gitDir } }: Repo,
  folder: string,
): Promise<string> {
  await files.makeFolder(folder)
  const names = (await files.readNames(gitDir)).filter((name) => name.startsWith('sharedindex.'))
  for (const name of ['index', ...names]) await files.copy(path.join(gitDir, name), path.join(folder, name))
  return path.join(folder, 'index')
}

/** The tree of all files: that of the index, which git writes, changed to the files as they are. */
export function captureAll(
  vault: OpenVault,
  repo: Repo,
  checkout: string,
  follow: Follow = {},
): Promise<string> {
  const { signal } = follow
  return withIndex(vault, repo, async (index) => {
    const changed = await scanFiles(vault, checkout, index, signal)
    const changes = await captureEach(vault, checkout, changed, follow)
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
  follow: Follow = {},
): Promise<Map<BytePath, Leaf | null>> {
  const { signal } = follow
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
    const changes = await captureEach(vault, checkout, [...new Set([...staged, ...found])], follow)
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
export async function scanFiles(
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

async function captureEach(
  vault: OpenVault,
  checkout: string,
  files: readonly BytePath[],
  { signal, count }: Follow,
): Promise<Changes> {
  const leaves = new Map<BytePath, Leaf | null>()
  const replaced: BytePath[] = []
  await withHeld(vault, checkout, async (held) => {
    const obstacleOf = obstacles(held)
    const captureNext = async (file: BytePath) => {
      const found = obstacleOf(file) ?? (await captureOne(vault, held, file))
      if (found.kind === 'file') leaves.set(file, found.leaf)
      if (found.kind === 'gone') leaves.set(file, null)
      if (found.kind === 'folder') replaced.push(file)
    }
    await eachOf(files, 8, captureNext, { signal, onEach: count?.(files.length) })
  })
  return { leaves, replaced }
}
