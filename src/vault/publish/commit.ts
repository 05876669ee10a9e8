/** Commits in the user's name, made from trees of the vault. */
import path from 'node:path'
import { type BytePath, toBytes } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { ReplayStep } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import type { Leaf } from '../../core/model/tree.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { readOwnHead } from '../../git/own.ts'
import { stepSubject } from '../journal/step.ts'
import { readSteps, setUp } from '../journal/steps.ts'
import { readTree } from '../objects/commit.ts'
import { lenders } from '../objects/lenders.ts'
import type { OpenVault } from '../open.ts'
import { bringIn } from './bring-in.ts'
import { commitSteps } from './commit-steps.ts'
import { conversionsOf, makeCleanRepo } from './conversions.ts'
import { readLines } from './published.ts'
import { transfer } from './transfer.ts'
import { readGiven, treeWithoutGiven } from './without-given.ts'

/** Commits with the user's name, signed if their own config says so. Settings of the repository run no command here. */
export async function commitAsUser(
  vault: OpenVault,
  repo: Repo,
  parts: { tree: string; parents: readonly string[]; message: string },
  signal?: AbortSignal,
): Promise<string> {
  await vault.objects.sync()
  const scratch = await makeCleanRepo(vault)
  const settings = await identity(vault, repo, signal)
  const scope = { gitDir: scratch, cwd: scratch, config: 'user', settings, signal } as const
  const asked = await vault.exec({
    args: ['config', '--type=bool', '--get', 'commit.gpgsign'],
    expect: [1],
    ...scope,
  })
  const signed = asked.stdout.toString().trim() === 'true' ? ['-S'] : []
  const { stdout } = await vault.exec({
    args: [
      'commit-tree',
      ...signed,
      ...parts.parents.flatMap((parent) => ['-p', parent]),
      '-F',
      '-',
      parts.tree,
    ],
    stdin: parts.message.endsWith('\n') ? parts.message : `${parts.message}\n`,
    objectDir: path.join(vault.vault, 'objects'),
    alternates: vault.alternates,
    durable: true,
    ...scope,
  })
  const commit = stdout.toString().trim()
  await transfer(vault, repo, commit, parts.parents, signal)
  return commit
}

/** The user as the author of a commit: `Ursula <ursula@example.com>`; undefined when git does not know. */
export async function findAuthor(
  vault: OpenVault,
  repo: Repo,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const settings = new Map(await identity(vault, repo, signal).catch(() => []))
  const name = settings.get('author.name')
  return name === undefined ? undefined : `${name} <${settings.get('author.email')}>`
}

/** Author and committer as the user's own `git commit` would have them in that repository. */
async function identity(vault: OpenVault, repo: Repo, signal?: AbortSignal): Promise<[string, string][]> {
  const settings: [string, string][] = []
  for (const role of ['author', 'committer'] as const) {
    const { code, stdout } = await vault.exec({
      args: ['var', `GIT_${role.toUpperCase()}_IDENT`],
      gitDir: repo.commonDir,
      cwd: repo.commonDir,
      config: 'user',
      identity: true,
      expect: [128],
      signal,
    })
    const [, name = '', email = ''] = /^(.*) <(.*)> \d+ [+-]\d+$/.exec(stdout.toString().trim()) ?? []
    if (code !== 0 || name === '')
      throw new AppError('failed', 'git does not know who you are, so it cannot commit.', {
        hint: 'Say it: git config --global user.name "Your Name" && git config --global user.email you@example.com',
      })
    settings.push([`${role}.name`, name], [`${role}.email`, email])
  }
  return settings
}

/** Converts a stored content as a checkout would. */
export async function smudge(
  vault: OpenVault,
  task: Task,
  checkout: string,
  file: BytePath,
  leaf: Leaf,
): Promise<Leaf> {
  if (leaf.mode === '120000' || leaf.mode === '160000') return leaf
  const { stdout } = await vault.exec({
    args: ['cat-file', '--filters', `--path=${toBytes(file).toString()}`, leaf.oid],
    gitDir: await makeCleanRepo(vault, task),
    objectDir: path.join(vault.vault, 'objects'),
    alternates: vault.alternates,
    workTree: checkout,
    cwd: checkout,
    config: 'user',
    settings: await conversionsOf(vault, task),
  })
  return { mode: leaf.mode, oid: await vault.objects.put('blob', stdout) }
}

/** The agent's own commits, and one more for its uncommitted work; without own commits, the steps. */
export async function readReplay(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<ReplayStep[]> {
  const steps = await readSteps(vault, task)
  if (steps.length === 0) return []
  // The published steps have nothing of what `postStart` wrote, by which a replay merges.
  const lines = steps[0]?.tool === setUp ? [] : await readLines(vault, task)
  const all = [...lines, ...(await commitSteps(vault, task, steps, lines, signal, 'all'))]
  const last = all.findLast(({ n }) => n !== undefined)
  const begun = all.find(({ n }) => n === 0)
  // The agent's commits may hold changes that the user had not committed at the start.
  const own = last && !begun && (await agentsCommits(vault, repo, task, last, signal))
  if (own) return own
  let parentTree = begun?.tree ?? (await readTree(vault, task.base.commit))
  return all.flatMap(({ n, commit, tree }) => {
    const step = n === undefined || n === 0 ? undefined : steps[n]
    if (!step) return []
    const before = parentTree
    parentTree = tree
    return [{ commit, subject: stepSubject(step), tree, parentTree: before }]
  })
}

async function agentsCommits(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  last: { readonly commit: string; readonly tree: string },
  signal?: AbortSignal,
): Promise<ReplayStep[] | undefined> {
  const head = await readOwnHead(vault.files, workspacePlace(repo, task))
  if (head === undefined || head === task.base.commit) return undefined
  const lent = { ...vault, alternates: await lenders(vault, repo, task) }
  if (!(await bringIn(lent, head, [task.base.commit], signal))) return undefined
  const { code, stdout } = await vault.exec({
    args: [
      'log',
      '-z',
      '--reverse',
      '--first-parent',
      '--no-merges',
      '--format=%H%n%T%n%P%n%B',
      `${task.base.commit}..${head}`,
    ],
    gitDir: vault.vault,
    alternates: lent.alternates,
    cwd: vault.vault,
    expect: [128],
    signal,
  })
  const commits = code === 0 ? stdout.toString().split('\0').filter(Boolean) : []
  const replay: ReplayStep[] = []
  const base = await readTree(vault, task.base.commit)
  const given = await readGiven(vault, task)
  let parentTree = base
  for (const text of commits) {
    const [commit = '', tree = '', , ...message] = text.split('\n')
    if (/^Offshoot-Step: /m.test(text)) return undefined
    const own = await treeWithoutGiven(vault, base, tree, given)
    replay.push({ commit, subject: message.join('\n').trim(), tree: own, parentTree })
    parentTree = own
  }
  if (replay.length === 0) return undefined
  if (parentTree === last.tree) return replay
  const { commit, tree } = last
  return [...replay, { commit, subject: `What ${task.id} did not commit`, tree, parentTree }]
}
