/** The commits that the agent made itself, as a landing that hands them on looks at them (docs/adr/0039-landing-tells.md). */
import { fromBytes } from '../../core/model/bytes.ts'
import { branchRef } from '../../core/model/refs.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { OwnCommit, OwnCommits } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { readOwnHead, readOwnRef } from '../../git/own.ts'
import { findRef } from '../../git/refs.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { lenders } from '../objects/lenders.ts'
import type { OpenVault } from '../open.ts'
import { bringIn } from './bring-in.ts'
import { findAuthor } from './commit.ts'
import { branchFor } from './publish.ts'
import { readLines } from './published.ts'
import { readGiven } from './without-given.ts'

/** Every such commit beyond the base, with the files that it is the first to have. */
export async function readOwnCommits(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<OwnCommits> {
  const { heads, joined, ours } = await findOwnHeads(vault, repo, task)
  if (heads.length + joined.length === 0) return { commits: [], unsound: [] }
  const lent = { ...vault, alternates: await lenders(vault, repo, task) }
  const unsound: string[] = []
  const sound = [...joined]
  for (const head of heads) {
    const isSound = await bringIn(lent, head, [task.base.commit], signal)
    ;(isSound ? sound : unsound).push(head)
  }
  if (sound.length === 0) return { commits: [], unsound }
  const { stdout } = await vault.exec({
    args: [
      'rev-list',
      '--objects',
      '--in-commit-order',
      '--format=%an <%ae>',
      ...sound,
      `^${task.base.commit}`,
    ],
    gitDir: vault.vault,
    alternates: lent.alternates,
    cwd: vault.vault,
    signal,
  })
  const you = await findAuthor(vault, repo, signal)
  // They are left out of what is handed on.
  const given = await readGiven(vault, task)
  const commits = parseCommits(fromBytes(stdout))
    .filter(({ commit }) => !ours.has(commit))
    .map(({ commit, author, files }) => ({
      commit,
      files: files.filter(({ path }) => !given.has(path)),
      ...(author !== you && { author }),
    }))
  return { commits, unsound }
}

interface OwnHeads {
  readonly heads: readonly string[]
  /** The tip that we published on top of earlier ones, which were sound then. */
  readonly joined: readonly string[]
  /** Commits of ours among them. */
  readonly ours: ReadonlySet<string>
}

async function findOwnHeads(vault: OpenVault, repo: Repo, task: Task): Promise<OwnHeads> {
  const own = workspacePlace(repo, task)
  const ref = branchRef(await branchFor(vault, repo, task))
  const heads = [
    await findRef(vault.exec, repo.place, ref),
    task.isolation === 'clone' ? await readOwnRef(vault.files, own, ref) : undefined,
    await readOwnHead(vault.files, own),
  ]
  const lines = await readLines(vault, task)
  const ours = new Set([task.base.commit, ...lines.map(({ commit }) => commit)])
  const last = lines.findLast(({ n }) => n === undefined)
  return {
    heads: [...new Set(heads)].filter((head) => head !== undefined).filter((head) => !ours.has(head)),
    joined: last ? [last.commit] : [],
    ours,
  }
}

/** Reads `commit <id>`, its author, then `<id> <path>` of each object that appears with it. */
function parseCommits(text: string): (OwnCommit & { readonly author: string })[] {
  const commits: { commit: string; author: string; files: { path: string; oid: string }[] }[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.startsWith('commit ')) {
      const author = Buffer.from(lines[++at] ?? '', 'latin1').toString()
      commits.push({ commit: line.slice('commit '.length), author, files: [] })
      continue
    }
    const space = line.indexOf(' ')
    if (space > 0 && space < line.length - 1)
      commits.at(-1)?.files.push({ oid: line.slice(0, space), path: line.slice(space + 1) })
  }
  return commits
}
