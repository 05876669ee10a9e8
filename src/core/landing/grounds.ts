/**
 * Checkouts that exist only in thought: one whose files are a tree, or one after a landing that was only planned. A landing that
 * is given these ports plans what it would in such a checkout (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md).
 */
import type { BytePath } from '../model/bytes.ts'
import { isSame } from '../model/leaf.ts'
import type { Repo } from '../model/repo.ts'
import type { Found, Leaf, Tracked } from '../model/tree.ts'
import type { Checkouts } from '../ports/checkouts.ts'
import type { Contents } from '../ports/contents.ts'
import { attributeFiles, foldersAbove } from '../model/attribute-files.ts'
import type { TrialPorts } from './trial-ports.ts'

/** The files after a landing, by path; null: the landing deletes it. */
export type Moved = ReadonlyMap<BytePath, Leaf | null>

/** What a landing asks of a checkout. */
interface Ground {
  find(file: BytePath): Promise<Found>
  /** The tree of all files. */
  all(): Promise<string>
  below(folder: BytePath): Promise<BytePath[]>
  names(folder: BytePath): Promise<string[]>
}

/** The checkout after the moves of a landing. */
export function afterLanding(ports: TrialPorts, repo: Repo, checkout: string, moved: Moved): TrialPorts {
  if (moved.size === 0) return ports
  const { contents, checkouts } = ports
  const [placed, deleted] = [filesOf(moved, true), filesOf(moved, false)]
  const [folders, left] = [new Set(placed.flatMap(foldersAbove)), new Set(deleted.flatMap(foldersAbove))]
  /** Whether the landing has deleted all files of a folder, and so the folder. */
  const isEmptied = async (folder: BytePath) => {
    if (!left.has(folder) || folders.has(folder)) return false
    return (await checkouts.readFilesBelow(checkout, folder)).every((file) => moved.get(file) === null)
  }
  const ground: Ground = {
    async find(file) {
      const leaf = moved.get(file)
      if (leaf) return foundLeaf(leaf)
      if (folders.has(file)) return { kind: 'folder' }
      const blockedBy = foldersAbove(file).find((folder) => moved.get(folder))
      if (blockedBy !== undefined) return { kind: 'gone', blockedBy }
      if (leaf === null) return { kind: 'gone' }
      const there = (await contents.capture(repo, checkout, [file])).get(file) ?? { kind: 'gone' }
      if (there.kind === 'gone' && there.blockedBy !== undefined && moved.get(there.blockedBy) === null)
        return { kind: 'gone' }
      return there.kind === 'folder' && (await isEmptied(file)) ? { kind: 'gone' } : there
    },
    all: async () => contents.change(repo, await contents.captureAll(repo, checkout), moved),
    async below(folder) {
      const there = (await contents.capture(repo, checkout, [folder])).get(folder)
      const inside = there?.kind === 'folder' ? await checkouts.readFilesBelow(checkout, folder) : []
      const kept = inside.filter((file) => !moved.has(file))
      return [...kept, ...placed.filter((file) => file.startsWith(`${folder}/`))]
    },
    async names(folder) {
      const prefix = folder === '' ? '' : `${folder}/`
      const names = new Set<string>()
      for (const name of await checkouts.readNames(checkout, folder)) {
        const file = prefix + name
        if (moved.get(file) !== null && !(await isEmptied(file))) names.add(name)
      }
      for (const file of placed)
        if (file.startsWith(prefix)) names.add(file.slice(prefix.length).split('/')[0] ?? '')
      return [...names]
    },
  }
  return { ...ports, ...onGround(ports, repo, checkout, ground) }
}

/** A fresh checkout of the tree. */
export function onTree(ports: TrialPorts, repo: Repo, checkout: string, tree: string): TrialPorts {
  const { contents } = ports
  const findEntry = async (file: BytePath): Promise<Leaf | null | undefined> =>
    (await contents.findEntries(repo, tree, folderOf(file)))?.get(nameOf(file))
  const ground: Ground = {
    async find(file) {
      const leaf = await contents.findLeaf(repo, tree, file)
      if (leaf && leaf.mode !== '160000') return foundLeaf(leaf)
      for (const folder of foldersAbove(file)) {
        const entry = await findEntry(folder)
        if (entry === undefined) return { kind: 'gone' }
        if (entry !== null && entry.mode !== '160000') return { kind: 'gone', blockedBy: folder }
      }
      return (await findEntry(file)) === undefined ? { kind: 'gone' } : { kind: 'folder' }
    },
    all: async () => tree,
    async below(folder) {
      const found: BytePath[] = []
      for (const [name, entry] of (await contents.findEntries(repo, tree, folder)) ?? []) {
        if (entry) found.push(`${folder}/${name}`)
        else found.push(...(await ground.below(`${folder}/${name}`)))
      }
      return found
    },
    names: async (folder) => [...((await contents.findEntries(repo, tree, folder))?.keys() ?? [])],
  }
  const readTracked: Checkouts['readTracked'] = async (_, files) => {
    const tracked = new Map<BytePath, Tracked>()
    for (const file of files) {
      const entry = await findEntry(file)
      if (entry) tracked.set(file, entry)
    }
    return tracked
  }
  const findIndexed = async (file: BytePath) => (await contents.findLeaf(repo, tree, file)) ?? null
  const on = onGround({ ...ports, findIndexed }, repo, checkout, ground)
  return {
    ...ports,
    ...on,
    findIndexed,
    checkouts: { ...on.checkouts, readTracked },
    // No path of the real checkout counts, and no file is left out of a fresh one.
    files: { ...ports.files, readKind: async () => undefined },
  }
}

/** The files that the landing writes, or those that it deletes. */
function filesOf(moved: Moved, written: boolean): BytePath[] {
  return Array.from(moved).flatMap(([file, leaf]) => ((leaf !== null) === written ? [file] : []))
}

function foundLeaf(leaf: Leaf): Found {
  return { kind: 'file', leaf, permissions: leaf.permissions ?? (leaf.mode === '100755' ? 0o755 : 0o644) }
}

/** The ports through which a landing looks at that checkout. */
function onGround(
  { contents, checkouts, readRulesBy, findIndexed }: TrialPorts,
  repo: Repo,
  checkout: string,
  ground: Ground,
): { contents: Contents; checkouts: Checkouts } {
  const capture: Contents['capture'] = async (_, folder, paths, known, follow) => {
    if (folder !== checkout) return contents.capture(repo, folder, paths, known, follow)
    const found = new Map<BytePath, Found>()
    for (const file of paths) found.set(file, await ground.find(file))
    return found
  }
  return {
    contents: {
      ...contents,
      capture,
      captureAll: (_, folder, follow) =>
        folder === checkout ? ground.all() : contents.captureAll(repo, folder, follow),
    },
    checkouts: {
      ...checkouts,
      readFilesBelow: (_, folder) => ground.below(folder),
      readNames: (_, folder) => ground.names(folder),
      async readMergeRules(_, gitDir, files) {
        const attributes = attributeFiles(files)
        const [there, here] = [
          await contents.capture(repo, checkout, attributes),
          await capture(repo, checkout, attributes),
        ]
        const differs = attributes.some((file) => !isSame(leafOf(there.get(file)), leafOf(here.get(file))))
        if (!differs) return checkouts.readMergeRules(checkout, gitDir, files)
        const rules = new Map<BytePath, Leaf | null | undefined>()
        for (const file of attributes) rules.set(file, leafOf(here.get(file)) ?? (await findIndexed?.(file)))
        return readRulesBy(gitDir, files, rules)
      },
    },
  }
}

function leafOf(found: Found | undefined): Leaf | undefined {
  return found?.kind === 'file' ? found.leaf : undefined
}

function folderOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

function nameOf(file: BytePath): BytePath {
  return file.slice(file.lastIndexOf('/') + 1)
}
