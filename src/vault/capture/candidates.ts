/** The paths of a workspace that a step has to look at. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import { isBelow } from '../../core/base/below.ts'
import { allEnded, eachOf } from '../../core/base/concurrency.ts'
import { below, type BytePath, fromBytes, fromText, toText } from '../../core/model/bytes.ts'
import type { SkippedPath } from '../../core/model/step.ts'
import { isRefused } from '../../core/model/dot-git.ts'
import { findEntry, findLeaf, type Leaf } from '../objects/tree.ts'
import { type CaptureScope, filesBelow, unreadable } from './capture.ts'
import { parentOf, realFolders } from './folders.ts'
import { moduleFolders } from './modules.ts'
import type { Overlay } from './overlay.ts'
import { findIgnored, isNew, keptOutOf, withoutIgnored } from './ignore-rule.ts'
import { scanAll } from './scan.ts'
import { isPointer, readStaged, type StagedScope } from './staged.ts'

export type Scope = Omit<CaptureScope, 'held'> & StagedScope

export interface Candidates {
  readonly files: Set<BytePath>
  readonly skipped: SkippedPath[]
  /** Submodules in the agent's index that the last step lacks. */
  readonly modules: ReadonlyMap<BytePath, Leaf>
  /** The added submodules that are checked out. */
  readonly fresh: ReadonlySet<BytePath>
}

const repository = 'a repository of its own'
/** The step holds the commit that the submodule is on. We run no git in there, so we do not know whether there is more. */
const submodule = 'what is uncommitted in the submodule, if anything'

/**
 * All paths that git lists, and all paths of earlier steps: a captured file stays in the steps until it is deleted,
 * even if a rule ignores it by now. The same goes for files that the agent's own git tracks.
 */
export async function allPaths(
  scope: Scope,
  tree: string,
  overlay: Overlay,
  signal?: AbortSignal,
): Promise<Candidates> {
  const [scanned, staged] = await allEnded([
    scanAll(scope.exec, scope, signal),
    readStaged(scope, tree, signal),
  ])
  const modules = new Map([...staged].filter(([, leaf]) => isPointer(leaf)))
  const files = new Set([...overlay.seen.keys(), ...scanned.tracked])
  const [git, fresh, inside] = [new Set<BytePath>(), new Set<BytePath>(), new Set<BytePath>()]
  const closed = [...scanned.unreadable]
  for (const found of scanned.untracked) {
    if (!found.endsWith('/')) {
      files.add(found)
      continue
    }
    const folder = found.slice(0, -1)
    if (modules.has(folder) || isPointer(overlay.seen.get(folder)?.leaf)) {
      fresh.add(folder)
      inside.add(folder)
      continue
    }
    const nested = await filesBelow(scope.workspace, folder)
    for (const file of await withoutIgnored(scope.exec, scope, nested.files, signal)) files.add(file)
    for (const one of nested.git) git.add(one)
    closed.push(...nested.unreadable)
  }
  await dropIgnored(scope, overlay, new Set(scanned.untracked), files, signal)
  for (const file of staged.keys()) files.add(file)
  await addSubmodules(scope, tree, files, inside)
  await addUnlisted(scope, [...scanned.tracked, ...scanned.untracked], files, git, signal)
  const skipped = [
    ...Array.from(git, (one) => ({ path: toText(one), why: repository })),
    ...Array.from(inside, (one) => ({ path: toText(one), why: submodule })),
    ...Array.from(new Set(closed), (folder) => ({ path: toText(folder), why: unreadable })),
  ]
  return { files: withoutRefused(files, skipped), skipped, modules, fresh }
}

function withoutRefused(files: Set<BytePath>, skipped: SkippedPath[]): Set<BytePath> {
  for (const file of files) {
    if (!isRefused(file)) continue
    files.delete(file)
    skipped.push({ path: toText(file), why: 'a name that git refuses' })
  }
  return files
}

/** A path that was deleted and has come back counts as new, so the ignore rules apply to it again. */
async function dropIgnored(
  scope: Scope,
  overlay: Overlay,
  untracked: ReadonlySet<BytePath>,
  files: Set<BytePath>,
  signal?: AbortSignal,
): Promise<void> {
  const back: BytePath[] = []
  const isThere = realFolders(scope.workspace)
  for (const [file, { leaf }] of overlay.seen) {
    if (!isNew(leaf) || untracked.has(file) || !isThere(parentOf(file))) continue
    if (await lstat(below(scope.workspace, file)).catch(() => undefined)) back.push(file)
  }
  for (const file of await findIgnored(scope.exec, scope, back, signal)) files.delete(file)
}

/**
 * A checked-out submodule keeps its own files. If it is not checked out, files in its folder belong to the workspace.
 */
async function addSubmodules(
  scope: Scope,
  tree: string,
  files: Set<BytePath>,
  checkedOut: Set<BytePath>,
): Promise<void> {
  const modules = await findLeaf(scope.objects, tree, '.gitmodules')
  if (!modules || modules.mode === '120000') return
  const text = fromBytes(await scope.objects.readObject(modules.oid))
  for (const folder of moduleFolders(text)) {
    if ((await findLeaf(scope.objects, tree, folder))?.mode !== '160000') continue
    const inside = await filesBelow(scope.workspace, folder)
    if (inside.git.includes(`${folder}/.git`)) checkedOut.add(folder)
    else for (const file of inside.files) files.add(file)
  }
}

/**
 * Git lists no pipes, sockets or devices, nor a `.git` inside a folder of tracked files. We look for them only in the
 * folders of listed paths: in a folder without any change they are no part of a step.
 */
async function addUnlisted(
  scope: Scope,
  listed: readonly BytePath[],
  files: Set<BytePath>,
  git: Set<BytePath>,
  signal?: AbortSignal,
): Promise<void> {
  const folders = new Set([
    '',
    ...listed.map((file) => file.slice(0, file.lastIndexOf('/', file.length - 2) + 1)),
  ])
  const specials: BytePath[] = []
  await eachOf(folders, 8, async (folder) => {
    const at = below(scope.workspace, folder)
    const entries = await readdir(at, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
    for (const entry of entries) {
      const name = folder + fromBytes(entry.name)
      if (folder !== '' && name === `${folder}.git`) git.add(name)
      else if (!entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()) specials.push(name)
    }
  })
  for (const file of await withoutIgnored(scope.exec, scope, specials, signal)) files.add(file)
}

/**
 * The paths that a tool says it wrote, without those outside of the workspace and those that a rule ignores. Undefined
 * when the tool named a folder or a path in a submodule: then every path has to be looked at.
 */
export async function namedPaths(
  scope: Scope,
  tree: string,
  overlay: Overlay,
  named: readonly string[],
  signal?: AbortSignal,
): Promise<Candidates | undefined> {
  const root = await scope.files.readRealPath(scope.workspace)
  const files = new Set<BytePath>()
  for (const name of named) {
    const full = path.resolve(scope.workspace, name)
    // A path behind a link lies at its real place: elsewhere in the workspace, or outside of it.
    const real = path.join(await scope.files.readRealPath(path.dirname(full)), path.basename(full))
    const relative = full === scope.workspace ? '' : path.relative(root, real)
    if (relative === '') return undefined
    if (!isBelow(real, root)) continue
    const file = fromText(relative.split(path.sep).join('/'))
    if (file.split('/').includes('.git')) continue
    if ((await findEntry(scope.objects, tree, file))?.mode === '40000') return undefined
    const found = await lstat(below(scope.workspace, file)).catch(() => undefined)
    if (found?.isDirectory() || (await isInSubmodule(scope, tree, file))) return undefined
    files.add(file)
  }
  const unknown: BytePath[] = []
  for (const file of files) {
    const held = overlay.seen.get(file)?.leaf ?? (await findLeaf(scope.objects, tree, file))
    if (isNew(held)) unknown.push(file)
  }
  const ignored = await findIgnored(scope.exec, scope, unknown, signal)
  const staged = ignored.size > 0 ? await readStaged(scope, tree, signal) : new Map()
  for (const file of keptOutOf(ignored, staged)) files.delete(file)
  const skipped: SkippedPath[] = []
  return { files: withoutRefused(files, skipped), skipped, modules: new Map(), fresh: new Set() }
}

async function isInSubmodule(scope: Scope, tree: string, file: BytePath): Promise<boolean> {
  const parts = file.split('/')
  for (let count = 1; count <= parts.length; count++) {
    const entry = await findEntry(scope.objects, tree, parts.slice(0, count).join('/'))
    if (entry?.mode !== '40000') return entry?.mode === '160000'
  }
  return false
}
