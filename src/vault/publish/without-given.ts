/**
 * Leaves the files that offshoot gave to a workspace out of the agent's own commits: `git add --all` takes them in, and
 * none of them may reach a branch.
 */
import type { BytePath } from '../../core/model/bytes.ts'
import { taskFolder } from '../../core/model/layout.ts'
import type { Task } from '../../core/model/task.ts'
import { readKeptOut } from '../capture/kept-out.ts'
import { parseCommit, readTree } from '../objects/commit.ts'
import { changeTree, compareTrees } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'

export interface Cleared {
  /** The commit to hand on; the given one if there was nothing to leave out. */
  readonly head: string
  readonly paths: ReadonlySet<BytePath>
}

/** Makes the commits beyond `known` again from the first one that has such a file; the vault must have all of them. */
export async function withoutGiven(
  vault: OpenVault,
  task: Task,
  head: string,
  known: readonly string[],
  signal?: AbortSignal,
): Promise<Cleared> {
  const given = await readGiven(vault, task)
  const paths = new Set<BytePath>()
  if (given.size === 0) return { head, paths }
  const { stdout } = await vault.exec({
    args: [
      'rev-list',
      '--topo-order',
      '--reverse',
      '--parents',
      head,
      ...known.map((commit) => `^${commit}`),
    ],
    gitDir: vault.vault,
    alternates: vault.alternates,
    cwd: vault.vault,
    signal,
  })
  const base = await readTree(vault, task.base.commit)
  const made = new Map<string, string>()
  for (const line of stdout.toString().split('\n').filter(Boolean)) {
    const [commit = '', ...parents] = line.split(' ')
    const content = Buffer.from(await vault.objects.readObject(commit))
    const { tree } = parseCommit(content)
    const cleared = await treeWithoutGiven(vault, base, tree, given, paths)
    if (cleared === tree && !parents.some((parent) => made.has(parent))) continue
    const mapped = parents.map((parent) => made.get(parent) ?? parent)
    made.set(commit, await vault.objects.put('commit', remade(content, cleared, mapped)))
  }
  return { head: made.get(head) ?? head, paths }
}

export function readGiven(vault: OpenVault, task: Task): Promise<ReadonlySet<BytePath>> {
  return readKeptOut(vault.files, taskFolder(vault.vault, task))
}

/** The tree without the given files; adds those that it had to `found`. */
export async function treeWithoutGiven(
  vault: OpenVault,
  base: string,
  tree: string,
  given: ReadonlySet<BytePath>,
  found: Set<BytePath> = new Set(),
): Promise<string> {
  if (given.size === 0) return tree
  const changes = await compareTrees(vault.objects, base, tree)
  const taken = [...changes].filter(([file]) => given.has(file))
  if (taken.length === 0) return tree
  for (const [file] of taken) found.add(file)
  return (await changeTree(vault.objects, tree, new Map(taken.map(([file, { from }]) => [file, from])))).tree
}

/** The commit with another tree and other parents; a signature would no longer be valid, so it goes. */
function remade(content: Buffer, tree: string, parents: readonly string[]): Buffer {
  const text = content.toString('latin1')
  const end = text.indexOf('\n\n')
  const head = text
    .slice(0, end)
    .replace(/\ngpgsig(?:-sha256)? [^\n]*(?:\n [^\n]*)*/g, '')
    .replace(
      /^tree \w+(?:\nparent \w+)*/,
      [`tree ${tree}`, ...parents.map((id) => `parent ${id}`)].join('\n'),
    )
  return Buffer.from(head + text.slice(end), 'latin1')
}
