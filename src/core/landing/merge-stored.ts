/** Retries a conflicting merge with the contents as git stores them, where line ends and encodings are equal. */
import type { Work } from '../tasks/work.ts'
import { type BytePath, fromText } from '../model/bytes.ts'
import type { Leaf, MergeInput, Merged } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'

type Leaves = ReadonlyMap<BytePath, Leaf>

/** Answers the merge with fewer conflicts; its files are converted back to the bytes that a checkout would write. */
export async function mergeStored(
  work: Work,
  checkout: string,
  sides: MergeInput,
  merged: Merged,
): Promise<Merged> {
  const { ports, repo, task, signal } = work
  const { contents, publishing } = ports
  const paths = merged.conflicts.map((conflict) => fromText(conflict.path))
  const raw = {
    base: await filesOf(ports, repo, sides.base, paths),
    ours: await filesOf(ports, repo, sides.ours, paths),
    theirs: await filesOf(ports, repo, sides.theirs, paths),
  }
  const stored = {
    base: await storedLeaves(work, raw.base),
    ours: await storedLeaves(work, raw.ours),
    theirs: await storedLeaves(work, raw.theirs),
  }
  const converts = (['base', 'ours', 'theirs'] as const).some((name) =>
    Array.from(stored[name]).some(([file, { oid }]) => raw[name].get(file)?.oid !== oid),
  )
  if (!converts) return merged
  const again = await contents.merge(
    repo,
    {
      ...sides,
      base: await contents.change(repo, sides.base, stored.base),
      ours: await contents.change(repo, sides.ours, stored.ours),
      theirs: await contents.change(repo, sides.theirs, stored.theirs),
    },
    signal,
  )
  if (again.conflicts.length >= merged.conflicts.length) return merged
  const back = new Map<BytePath, Leaf>()
  for (const file of paths) {
    const now = await contents.findLeaf(repo, again.tree, file)
    if (!now?.mode.startsWith('100')) continue
    const side = (['ours', 'theirs'] as const).find((name) => stored[name].get(file)?.oid === now.oid)
    const known = side && raw[side].get(file)
    back.set(
      file,
      known ? { ...known, mode: now.mode } : await publishing.smudge(repo, task, checkout, file, now),
    )
  }
  return { tree: await contents.change(repo, again.tree, back), conflicts: again.conflicts }
}

async function filesOf(
  { contents }: Ports,
  repo: Repo,
  tree: string,
  paths: readonly BytePath[],
): Promise<Leaves> {
  const found = new Map<BytePath, Leaf>()
  for (const file of paths) {
    const leaf = await contents.findLeaf(repo, tree, file)
    if (leaf?.mode.startsWith('100')) found.set(file, leaf)
  }
  return found
}

async function storedLeaves(
  { ports: { publishing }, repo, task, signal }: Work,
  files: Leaves,
): Promise<Leaves> {
  const changes = new Map(Array.from(files, ([file, to]) => [file, { from: null, to }]))
  const stored = new Map<BytePath, Leaf>()
  for (const [file, leaf] of await publishing.clean(repo, task, changes, signal))
    if (leaf) stored.set(file, leaf)
  return stored
}
