/** Looks at the files that are about to land, and at every step and commit that is handed on with them. */
import { eachOf } from '../base/concurrency.ts'
import { following } from '../base/watch.ts'
import { type BytePath, fromBytes, toText } from '../model/bytes.ts'
import { isSame } from '../model/leaf.ts'
import type { Repo } from '../model/repo.ts'
import { pieceBytes, secretSearch } from '../model/secrets.ts'
import type { Conflict, Leaf, LeafChange } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import { foldersOf, type LinkTree, whyRefused } from './links.ts'
import { firstNew, markerHint, markerSearch, type MarkerSet } from './markers.ts'
import { type Risk, type Risks, risks, type SeenFile, whySecret } from './risk.ts'
import { changesPackage } from './runs-later.ts'
import type { LandingStrategy, LandingWork } from './strategy.ts'
import type { Work } from '../tasks/work.ts'

type Changes = ReadonlyMap<BytePath, LeafChange>

/** What was seen in a content. */
interface Seen {
  readonly holdsSecret: boolean
  readonly mayHoldMarkers: boolean
}

/** Looks into a content. Reads each content once. */
export type Look = (leaf: Pick<Leaf, 'oid'>) => Promise<Seen>

export function contentLook(ports: Pick<Ports, 'contents'>, repo: Repo): Look {
  const seen = new Map<string, Seen>()
  return async ({ oid }) => {
    const known = seen.get(oid)
    if (known !== undefined) return known
    const [secrets, markers] = [secretSearch(), markerHint()]
    await readThrough(ports, repo, oid, (piece) => {
      secrets.take(piece)
      markers.take(piece)
    })
    const found = { holdsSecret: secrets.end(), mayHoldMarkers: markers.end() }
    seen.set(oid, found)
    return found
  }
}

async function readThrough(
  { contents }: Pick<Ports, 'contents'>,
  repo: Repo,
  oid: string,
  take: (piece: Buffer) => void,
): Promise<void> {
  const content = await contents.findContent(repo, { oid }, pieceBytes)
  if (content) take(content)
  else await contents.readPieces(repo, { oid }, take)
}

/** The files to which the change adds conflict markers, with the line of the first. A file that was renamed adds none. */
export async function lookAtMarkers(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  changes: Changes,
  look: Look,
): Promise<MarkedFile[]> {
  const before = new Set(Array.from(changes.values(), ({ from }) => from?.oid))
  const marked: MarkedFile[] = []
  for (const [path, { from, to }] of changes) {
    if (!to?.mode.startsWith('100') || before.has(to.oid) || !(await look(to)).mayHoldMarkers) continue
    const old = from?.mode.startsWith('100') ? await readMarkers(ports, repo, from.oid) : []
    const added = firstNew(old, await readMarkers(ports, repo, to.oid))
    if (added) marked.push({ path: toText(path), kind: 'markers', line: added.line })
  }
  return marked.sort((a, b) => (a.path < b.path ? -1 : 1))
}

type MarkedFile = Conflict & { readonly line: number }

async function readMarkers(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  oid: string,
): Promise<readonly MarkerSet[]> {
  const search = markerSearch()
  await readThrough(ports, repo, oid, search.take)
  return search.end()
}

/** Judges the change from one tree to another. */
export async function lookAtFiles(
  work: Omit<Work, 'task'>,
  changes: Changes,
  { tree, before, look }: { readonly tree: string; readonly before: string; readonly look: Look },
): Promise<Risks> {
  const { ports, repo } = work
  const { signal, count } = following(work, 'checking')
  const files: SeenFile[] = []
  const lookAtOne = async ([path, { from, to }]: [BytePath, LeafChange]) => {
    const holdsSecret = to !== null && to.mode !== '160000' && (await look(to)).holdsSecret
    const isHarmless =
      isPackage(path) && from && to ? !(await hasPackageChanged(ports, repo, from, to)) : false
    files.push({ path, from, to, holdsSecret, isHarmless })
  }
  await eachOf(changes.entries(), 16, lookAtOne, { signal, onEach: count?.(changes.size) })
  const links = await lookAtLinks(ports, repo, changes, { tree, before })
  const seen = files.map((file) => ({ ...file, link: links.get(file.path) }))
  const { told, refused } = risks(seen.sort((a, b) => (a.path < b.path ? -1 : 1)))
  const others = [...links].filter(([path]) => !changes.has(path))
  return { told, refused: [...refused, ...others.map(([path, why]) => ({ path: toText(path), why }))] }
}

function isPackage(path: BytePath): boolean {
  return path === 'package.json' || path.endsWith('/package.json')
}

async function hasPackageChanged(
  { contents }: Pick<Ports, 'contents'>,
  repo: Repo,
  from: Leaf,
  to: Leaf,
): Promise<boolean> {
  const [before, after] = [
    await contents.findContent(repo, from, pieceBytes),
    await contents.findContent(repo, to, pieceBytes),
  ]
  return changesPackage(before?.toString(), after?.toString())
}

/**
 * The links that may not land, with the reason. A new link can also change where an old one leads, so then all links of
 * the tree are looked at; one that led there before is the user's own.
 */
async function lookAtLinks(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  changes: Changes,
  { tree, before }: { readonly tree: string; readonly before: string },
): Promise<Map<BytePath, string>> {
  const refused = new Map<BytePath, string>()
  if (!Array.from(changes.values()).some(({ to }) => to?.mode === '120000')) return refused
  const [now, then] = [await readLinks(ports, repo, tree), await readLinks(ports, repo, before)]
  for (const link of now.links.keys()) {
    const why = whyRefused(link, now)
    if (why !== undefined && (changes.has(link) || whyRefused(link, then) === undefined))
      refused.set(link, why)
  }
  return refused
}

async function readLinks({ contents }: Pick<Ports, 'contents'>, repo: Repo, tree: string): Promise<LinkTree> {
  const links = new Map<BytePath, string>()
  const modules: BytePath[] = []
  const all = await contents.compare(repo, null, tree)
  for (const [path, { to }] of all) {
    if (to?.mode === '160000') modules.push(`${path}/`)
    if (to?.mode === '120000') links.set(path, fromBytes(await contents.readContent(repo, to)))
  }
  return { links, folders: foldersOf([...all.keys(), ...modules]) }
}

/** Judges everything that the strategy hands on beside the last state: earlier steps, and the agent's own commits. */
export async function lookAtHistory(
  work: LandingWork,
  { lands, history }: Pick<LandingStrategy, 'lands' | 'history'>,
  final: Changes,
  look: Look,
): Promise<Risks> {
  if (history === undefined || !work.offer.whole) return { told: [], refused: [] }
  const { ports, repo, task, signal } = work
  const refused = new Map<string, string>()
  const hands = async (path: BytePath, leaf: Pick<Leaf, 'oid'>, where: string) => {
    const why = whySecret(path, (await look(leaf)).holdsSecret)
    if (why === undefined || final.get(path)?.to?.oid === leaf.oid || (await isTargets(work, path, leaf)))
      return
    if (!refused.has(toText(path))) refused.set(toText(path), `${why}, in ${where}`)
  }
  for (const { where, changes } of await readHanded(work, lands)) {
    for (const [path, { to }] of changes) if (to && to.mode !== '160000') await hands(path, to, where)
  }
  const own = await ports.publishing.readOwnCommits(repo, task, signal)
  for (const { commit, files } of own.commits) {
    for (const { path, oid } of files) await hands(path, { oid }, `commit ${commit.slice(0, 10)}`)
    if ((await look({ oid: commit })).holdsSecret)
      refused.set(commit, 'a commit whose message or names look like a secret')
  }
  for (const head of own.unsound) refused.set(head, 'a commit that git refuses, or that lacks objects')
  return {
    told: history === 'remade' ? [] : authors(own.commits),
    refused: Array.from(refused, ([path, why]) => ({ path, why })),
  }
}

/** The changes of each step, and of the user's own uncommitted work where the branch holds that as well. */
async function readHanded(
  { ports, repo, task, signal }: LandingWork,
  lands: LandingStrategy['lands'],
): Promise<{ where: string; changes: Changes }[]> {
  const { contents, publishing, seeding, steps } = ports
  const handed: { where: string; changes: Changes }[] = []
  const all = await steps.readSteps(repo, task)
  if (lands === 'branch' && all.length > 0) {
    const base = await publishing.readTree(repo, task.base.commit)
    const changes = await contents.compare(repo, base, await seeding.readStart(repo, task, 'given', signal))
    handed.push({ where: 'the uncommitted work that it was started with', changes })
  }
  for (const [index, step] of all.entries()) {
    const before = all[index - 1]
    if (before)
      handed.push({ where: `step ${step.n}`, changes: await contents.compare(repo, before.tree, step.tree) })
  }
  return handed
}

/** Whether the file came with an update, as the target has it. */
async function isTargets(
  { ports, repo, offer }: LandingWork,
  path: BytePath,
  leaf: Pick<Leaf, 'oid'>,
): Promise<boolean> {
  const known = await ports.contents.findLeaf(repo, offer.basis, path)
  return known !== undefined && isSame(known, { mode: known.mode, oid: leaf.oid })
}

/** One commit of each author who is not the user. */
function authors(commits: readonly { readonly commit: string; readonly author?: string }[]): Risk[] {
  const byAuthor = new Map(
    commits.flatMap(({ commit, author }) => (author === undefined ? [] : [[author, commit]])),
  )
  return Array.from(byAuthor, ([author, commit]) => ({ path: commit, why: `is by ${author}, not by you` }))
}
