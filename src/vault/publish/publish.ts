/** Publishes steps as commits on the task's branch in the user's repository (docs/adr/0009-publish-by-pack.md). */
import path from 'node:path'
import type { BytePath } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import type { RefChange } from '../../core/model/git.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Published, Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { branchRef, headOn } from '../../core/model/refs.ts'
import { scratchIn, taskFiles, taskFolder } from '../../core/model/layout.ts'
import { isAncestor } from '../../git/ancestor.ts'
import { frugal } from '../../git/frugal.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { readOwnHead, readOwnRef, readPlain } from '../../git/own.ts'
import { changeRefs, findRef, findRivals } from '../../git/refs.ts'
import { commitContent, parseCommit, stepMessage } from '../journal/step.ts'
import { isRefusedLink } from '../../core/model/dot-git.ts'
import { changeTree, compareTrees, type Leaf } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { clean } from './clean.ts'
import { bringIn } from './own-commits.ts'
import { writeOwnIndex, writeOwnRef } from './own-git.ts'

/**
 * An adopted branch is the user's and stays where it is: the steps get a branch beside it. We note its name before it
 * exists, so that we never mistake somebody else's branch for it.
 */
async function branchFor(vault: OpenVault, repo: Repo, task: Task): Promise<string> {
  if (!task.adopted) return task.branch
  const note = path.join(taskFolder(vault.vault, task), taskFiles.branch)
  const noted = await vault.files.readText(note)
  if (noted) return noted.trim()
  for (let n = 1; ; n++) {
    const name = `offshoot/${task.id}${n === 1 ? '' : `-${n}`}`
    if ((await findRivals(repo.place, name)).length > 0) continue
    await vault.files.makeFolder(path.dirname(note), 0o700)
    await vault.files.write(note, `${name}\n`, 0o600)
    return name
  }
}

/** One line per commit, `<step> <commit> <tree>`; a join with the agent's own commits has the step `-`. */
function publishedFile({ vault }: OpenVault, task: Task): string {
  return path.join(taskFolder(vault, task), taskFiles.published)
}

interface Line {
  readonly n: number | undefined
  readonly commit: string
  readonly tree: string
}

export async function readLines(vault: OpenVault, task: Task): Promise<Line[]> {
  const text = (await vault.files.readText(publishedFile(vault, task))) ?? ''
  return text
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([n, commit, tree]) =>
      commit && tree ? [{ n: n === '-' ? undefined : Number(n), commit, tree }] : [],
    )
}

export async function readPublished(vault: OpenVault, task: Task): Promise<Map<number, string>> {
  const lines = await readLines(vault, task)
  return new Map(lines.flatMap(({ n, commit }) => (n === undefined ? [] : [[n, commit]])))
}

export async function publish(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  readSteps: (since: number) => Promise<readonly Step[]>,
  signal?: AbortSignal,
): Promise<Published> {
  const branch = await branchFor(vault, repo, task)
  const ref = branchRef(branch)
  const lines = await readLines(vault, task)
  const fresh = await commitSteps(vault, task, await readSteps(lastOf(lines)), lines, signal)
  const own = workspacePlace(repo, task)
  const now = await findRef(vault.exec, repo.place, ref, signal)
  const agents = task.isolation === 'clone' ? await readOwnRef(vault.files, own, ref) : now
  const lent = { ...vault, alternates: await lenders(vault, repo, task) }
  const stray = await strayHead(lent, repo, task, [now, agents], signal)
  let tip = fresh.at(-1) ?? lines.at(-1)
  if (!tip) return { branch, tip: now ?? task.base.commit, merged: false }
  if (fresh.length === 0 && now === tip.commit && agents === tip.commit && stray === undefined) {
    await syncIndex(vault, repo, task, branch, tip.commit, signal)
    return { branch, tip: tip.commit, merged: false }
  }
  const joined: string[] = []
  const last = lines.at(-1)?.commit
  const known = [task.base.commit]
  for (const head of new Set([now, agents, stray])) {
    if (head !== undefined && head === now && head === last) known.push(head)
    if (head === undefined || head === last) continue
    // The agent's commits may lack objects, or hold some that git refuses. They must not stop the steps.
    if (!(await bringIn(lent, head, [task.base.commit, ...(last === undefined ? [] : [last])], signal)))
      continue
    if (head === now) known.push(head)
    const where = { gitDir: vault.vault, alternates: lent.alternates, mayLack: true }
    if (!(await isAncestor(vault.exec, where, head, tip.commit, signal))) joined.push(head)
  }
  if (joined.length > 0) {
    const message = `Join the agent's own commits and the steps of ${task.id}\n`
    const at = vault.clock.now().toISOString()
    const parts = { tree: tip.tree, parents: [...joined, tip.commit], message, at }
    tip = { n: undefined, commit: await vault.objects.put('commit', commitContent(parts)), tree: tip.tree }
    fresh.push(tip)
  }
  await vault.objects.sync()
  if (now !== tip.commit) await transfer(lent, repo, tip.commit, known, signal)
  const change: RefChange = { ref, old: now ?? null, new: tip.commit }
  const message = `offshoot: steps of ${task.uid}`
  if (now !== tip.commit && !(await changeRefs(vault.exec, repo.place, [change], message, signal))) {
    throw new AppError('locked', `The branch ${branch} moved while it was being published.`, {
      hint: 'Repeat it.',
    })
  }
  if (task.isolation === 'clone') await writeOwnRef(vault.files, own, ref, tip.commit)
  await syncIndex(vault, repo, task, branch, tip.commit, signal)
  const text = [...lines, ...fresh].map(({ n, commit, tree }) => `${n ?? '-'} ${commit} ${tree}\n`).join('')
  await vault.files.write(publishedFile(vault, task), text, 0o600)
  return { branch, tip: tip.commit, merged: joined.length > 0 }
}

/**
 * The agent's last commit, if it is on no branch, or in a clone on another branch, and no ref of the user's repository
 * reaches it. On the agent's own branch in the user's repository it is safe without us.
 */
async function strayHead(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  known: readonly (string | undefined)[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const head = await readOwnHead(vault.files, workspacePlace(repo, task))
  if (head === undefined || head === task.base.commit || known.includes(head)) return undefined
  const { code, stdout } = await vault.exec({
    args: ['rev-list', '--max-count=1', '--single-worktree', head, '--not', '--all'],
    gitDir: repo.commonDir,
    alternates: vault.alternates,
    cwd: repo.commonDir,
    expect: [128],
    signal,
  })
  return code === 0 && stdout.length > 0 ? head : undefined
}

/**
 * The tips of the commits that the agent made itself, as far as they are handed on. `joined` is the tip that we published
 * on top of earlier ones.
 */
export async function findOwnHeads(
  vault: OpenVault,
  repo: Repo,
  task: Task,
): Promise<{ heads: string[]; joined: string[]; ours: ReadonlySet<string> }> {
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
    heads: [...new Set(heads)].filter((head) => head !== undefined && !ours.has(head)) as string[],
    joined: last ? [last.commit] : [],
    ours,
  }
}

/**
 * The folders that we read objects from. A clone's own count only while its single alternate is the user's repository.
 */
export async function lenders(vault: OpenVault, repo: Repo, task: Task): Promise<readonly string[]> {
  if (task.isolation !== 'clone') return vault.alternates
  const objects = path.join(task.path, '.git', 'objects')
  const borrowed = await readPlain(vault.files, task.path, '.git/objects/info/alternates')
  const expected = `${path.join(repo.commonDir, 'objects')}\n`
  return borrowed === expected ? [...vault.alternates, objects] : vault.alternates
}

/**
 * Makes a commit for each step that has none. `steps` begins with the last published one. Depends on no other state.
 */
export async function commitSteps(
  vault: OpenVault,
  task: Task,
  steps: readonly Step[],
  lines: readonly Line[],
  signal?: AbortSignal,
): Promise<Line[]> {
  const fresh: Line[] = []
  const done = lastOf(lines)
  let before = steps.find((step) => step.n === done)
  const news = steps.filter((step) => step.n > done)
  if (lines.length === 0 && before && news.length > 0) fresh.push(...(await commitStart(vault, task, before)))
  let { commit: parent, tree } = [...lines, ...fresh].at(-1) ?? {
    commit: task.base.commit,
    tree: await baseTree(vault, task),
  }
  for (const step of news) {
    const changes = await storableChanges(vault, before?.tree ?? null, step.tree)
    before = step
    tree = (await changeTree(vault.objects, tree, await clean(vault, task, step.tree, changes, signal))).tree
    const { n, tool, summary, at, run, call } = step
    const message = stepMessage({ n, tool, summary, at, run, call })
    parent = await vault.objects.put('commit', commitContent({ tree, parents: [parent], message, at }))
    fresh.push({ n, commit: parent, tree })
  }
  return fresh
}

/** Commits the user's uncommitted changes of the start separately, so that the steps hold only the agent's work. */
async function commitStart(vault: OpenVault, task: Task, first: Step): Promise<Line[]> {
  const tree = await startTree(vault, task, first)
  if (tree === (await baseTree(vault, task))) return []
  const message = `What was not committed at the start of ${task.id}\n\nOffshoot-Step: 0\n`
  const parts = { tree, parents: [task.base.commit], message, at: first.at }
  return [{ n: 0, commit: await vault.objects.put('commit', commitContent(parts)), tree }]
}

/** The tree of step 0 after the conversions. */
export async function startTree(
  vault: OpenVault,
  task: Task,
  first: Step,
  signal?: AbortSignal,
): Promise<string> {
  const base = await baseTree(vault, task)
  // If step 0 holds changes of the user's, its parent is the workspace as it was made.
  const [made] = parseCommit(await vault.objects.readObject(first.commit)).parents
  if (made === undefined) return base
  const { tree } = parseCommit(await vault.objects.readObject(made))
  const changes = await storableChanges(vault, tree, first.tree)
  return (await changeTree(vault.objects, base, await clean(vault, task, first.tree, changes, signal))).tree
}

/** The differences of two trees, without links that git refuses to store. */
async function storableChanges(
  vault: OpenVault,
  from: string | null,
  to: string,
): Promise<Map<BytePath, Leaf | null>> {
  const changes = new Map<BytePath, Leaf | null>()
  for (const [file, change] of await compareTrees(vault.objects, from, to)) {
    changes.set(file, change.to && !isRefusedLink(file, change.to.mode) ? change.to : null)
  }
  return changes
}

/** The last step that was published. */
function lastOf(lines: readonly Line[]): number {
  return lines.findLast(({ n }) => n !== undefined)?.n ?? 0
}

async function baseTree(vault: OpenVault, task: Task): Promise<string> {
  return parseCommit(await vault.objects.readObject(task.base.commit)).tree
}

/** Packs the objects that the user's repository lacks; `index-pack --strict` checks them there before they count. */
export async function transfer(
  vault: OpenVault,
  repo: Repo,
  tip: string,
  known: readonly (string | undefined)[],
  signal?: AbortSignal,
): Promise<void> {
  const base = scratchIn(vault.vault, 'pack')
  const has = [...new Set(known)].filter((commit) => commit !== undefined).map((commit) => `^${commit}\n`)
  const { stdout } = await vault.exec({
    args: ['pack-objects', '--revs', '-q', base],
    // Searching big files for deltas takes much time and memory; the user's own gc does it later.
    settings: [['core.bigFileThreshold', '1m']],
    stdin: `${tip}\n${has.join('')}`,
    gitDir: vault.vault,
    alternates: vault.alternates,
    cwd: vault.vault,
    signal,
  })
  const packed = `${base}-${stdout.toString().trim()}`
  try {
    await vault.exec({
      args: ['index-pack', '--stdin', '--strict', '--fix-thin'],
      stdinFile: `${packed}.pack`,
      gitDir: repo.commonDir,
      cwd: repo.commonDir,
      durable: true,
      settings: frugal,
      signal,
    })
  } finally {
    for (const end of ['pack', 'idx', 'rev']) await vault.files.remove(`${packed}.${end}`)
  }
}

/** Moves the workspace's own index with its branch, so that `git status` there is right. */
async function syncIndex(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  branch: string,
  tip: string,
  signal?: AbortSignal,
): Promise<void> {
  const { gitDir } = workspacePlace(repo, task)
  const head = await readPlain(vault.files, gitDir, 'HEAD')
  if (head?.trim() === headOn(branch)) await writeOwnIndex(vault, repo, task, tip, signal)
}
