/**
 * The vault: a bare repository per user repository that only offshoot writes, with one line of steps per task
 * (docs/adr/0006-vault-is-a-repository-of-its-own.md).
 */
import path from 'node:path'
import { allEnded } from '../core/base/concurrency.ts'
import { type BytePath, toText } from '../core/model/bytes.ts'
import { appError } from '../core/model/errors.ts'
import type { Repo } from '../core/model/repo.ts'
import type { Snapshot, Step } from '../core/model/step.ts'
import type { Task } from '../core/model/task.ts'
import {
  agedMark,
  shadowAside,
  taskFiles,
  taskFolder,
  trashAsideOf,
  vaultFolder,
} from '../core/model/layout.ts'
import type { Vault } from '../core/ports/vault.ts'
import { workspacePlace } from '../git/workspace-place.ts'
import { readOwnHead } from '../git/own.ts'
import { objectReader } from '../git/reader.ts'
import { ageIndex } from './capture/aged-index.ts'
import { scanIgnored, withoutCaptured } from './capture/ignore-rule.ts'
import { noteIndexed } from './capture/indexed.ts'
import { keepOut, readKeptOut } from './capture/kept-out.ts'
import type { Overlay } from './capture/overlay.ts'
import { taskOverlays } from './capture/overlays.ts'
import { readings } from './capture/readings.ts'
import { isPlain, keepIndex, seedTree } from './capture/seed.ts'
import { findConversions, findMade, prepareSlot, takeSlot } from './capture/slot.ts'
import { type Difference, difference } from './capture/snapshot.ts'
import { isUntouched } from './capture/untouched.ts'
import { findRecord, inspect, mendTip, noteRepo, readIds, readUids, readVaults } from './journal/known.ts'
import { commitContent, parseCommit } from './journal/step.ts'
import {
  commitFirst,
  commitStep,
  findFirstCommit,
  findStart,
  findTip,
  firstOf,
  hasSteps,
  noteFirst,
  stepsLost,
  stepsOf,
} from './journal/steps.ts'
import { adopt } from './objects/adopt.ts'
import { compact } from './objects/compact.ts'
import { vaultContents } from './objects/contents.ts'
import { diffOf, filesOf, statOf } from './objects/diff.ts'
import { vaultObjects } from './objects/objects.ts'
import { changeTree, compareTrees, type FileChange, type Leaf } from './objects/tree.ts'
import { type OpenVault, type VaultOptions, whenSynced } from './open.ts'
import { clearScratch, copyShallow, makeVault, readAlgorithm, vaultPlace, writeParts } from './place.ts'
import { clean, keepConfig } from './publish/clean.ts'
import { commitAsUser, findAuthor, readReplay, readTree, smudge } from './publish/commit.ts'
import { readOwnCommits } from './publish/own-commits.ts'
import { findOwnHeads, lenders, publish, readPublished, startTree } from './publish/publish.ts'
import { findRemote, makePushRepo, push } from './publish/push.ts'
import { refill } from './restore/refill.ts'
import { restore } from './restore/restore.ts'

export function gitVault(options: VaultOptions): Vault {
  const { files, exec, clock } = options
  const opened = new Map<string, Promise<OpenVault>>()
  const overlays = taskOverlays()

  const open = (repo: Repo) => {
    const known = opened.get(repo.name)
    if (known) return known
    const place = vaultPlace(options.home, repo)
    const opening = readAlgorithm(files, repo, place.vault).then(async (algorithm) => {
      await makeVault(files, place.vault, algorithm)
      await noteRepo(files, place.vault, repo)
      await clearScratch(files, place.vault)
      await copyShallow(files, repo.commonDir, place.vault)
      const reader = objectReader(options.pipe, { gitDir: place.vault, alternates: place.alternates })
      const onBroken = () => opened.delete(repo.name)
      const objects = vaultObjects(files, place.vault, algorithm, reader, onBroken)
      return {
        ...options,
        ...place,
        ...whenSynced(objects, exec, reader),
        objects,
        readings: readings(),
        quiet: new Map(),
      }
    })
    opened.set(repo.name, opening)
    opening.catch(() => opened.delete(repo.name))
    return opening
  }

  /** If a vault that held steps is missing, we do not make a new one: its backup may come back. */
  const openFor = async (repo: Repo, task: Task) => {
    if (!opened.has(repo.name) && hasSteps(task)) {
      const { vault } = vaultPlace(options.home, repo)
      if ((await files.readKind(vault)) === undefined) throw stepsLost(task)
    }
    return open(repo)
  }

  /** `start` and the first checkpoint may call this at once, and must make a single step 0; see also `commitFirst`. */
  const seeding = new Map<string, Promise<Step>>()
  const seed = (vault: OpenVault, repo: Repo, task: Task, signal?: AbortSignal): Promise<Step> => {
    const running = seeding.get(task.uid) ?? makeSeed(vault, repo, task, signal)
    seeding.set(task.uid, running)
    running.catch(() => seeding.delete(task.uid))
    return running
  }

  const makeSeed = async (vault: OpenVault, repo: Repo, task: Task, signal?: AbortSignal): Promise<Step> => {
    const there = await findTip(vault, task)
    if (there) return firstOf(vault, task, there)
    const tree = await madeTree(vault, repo, task, signal)
    const note = { n: 0, tool: 'start', summary: '', skipped: [] }
    const first = await commitFirst(vault, task, tree, note)
    if (!first) return makeSeed(vault, repo, task, signal)
    await noteFirst(vault, task, first)
    return first
  }

  /** The tree of the workspace when it was made. A slot has noted it. */
  const madeTree = async (
    vault: OpenVault,
    repo: Repo,
    task: Task,
    signal?: AbortSignal,
  ): Promise<string> => {
    const index = await keepIndex(vault, repo, task)
    const noted = await findMade(vault, task)
    if (noted !== undefined) return noted
    const base = parseCommit(await vault.objects.readObject(task.base.commit))
    return seedTree(vault, task.path, base.tree, index, signal)
  }

  /** The parent of such a step 0 holds the workspace as it was made, so that a diff can show the user's own changes. */
  const makeSeedWith = async (
    vault: OpenVault,
    repo: Repo,
    task: Task,
    changes: ReadonlyMap<BytePath, Leaf | null>,
    signal?: AbortSignal,
  ): Promise<Step> => {
    const made = await madeTree(vault, repo, task, signal)
    const { tree } = await changeTree(vault.objects, made, changes)
    // The index lacks the user's changes. Noting its tree makes the next capture read the changed files.
    await noteIndexed(files, taskFolder(vault.vault, task), made)
    await restore({ ...scopeOf(vault, task), aside: asideOf(task) }, made, tree, signal)
    const at = clock.now().toISOString()
    const message = 'The workspace as it was made\n'
    const parent = await vault.objects.put('commit', commitContent({ tree: made, parents: [], message, at }))
    const note = { n: 0, tool: 'start', summary: 'with what was not committed', skipped: [] }
    const first = await commitStep(vault, task, tree, parent, note, task)
    await noteFirst(vault, task, first)
    return first
  }

  const scopeOf = (vault: OpenVault, task: Task) => ({
    ...vault,
    workspace: task.path,
    index: path.join(taskFolder(vault.vault, task), taskFiles.index),
  })

  const captureDifference = async (
    vault: OpenVault,
    repo: Repo,
    task: Task,
    paths?: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ tip: Step; overlay: Overlay; found: Difference }> => {
    const tip = (await findTip(vault, task)) ?? (await seed(vault, repo, task, signal))
    const overlay = await overlays.read(vault, task, tip)
    const scope = scopeOf(vault, task)
    if (!paths) await ageIndex(scope, async () => (await firstOf(vault, task, tip)).tree, signal)
    const keptOut = await readKeptOut(files, taskFolder(vault.vault, task))
    const own = workspacePlace(repo, task).gitDir
    const found = await difference({ ...scope, own, keptOut }, tip.tree, overlay, paths, signal)
    return { tip, overlay, found }
  }

  /** A quick check that may say no for a quiet workspace. */
  const isQuiet = async (vault: OpenVault, task: Task): Promise<boolean> => {
    const tip = await findTip(vault, task)
    if (!tip) return false
    const overlay = await overlays.read(vault, task, tip)
    return isUntouched(task.path, scopeOf(vault, task).index, overlay, vault.objects.oidBytes)
  }

  /** A rewind repeats the older step exactly; files that its rules no longer ignore do not join it. */
  const planRewind = async (
    vault: OpenVault,
    repo: Repo,
    task: Task,
    to: number,
  ): Promise<{ tip: Step; overlay: Overlay; found: Difference }> => {
    const tip = (await findTip(vault, task)) ?? (await seed(vault, repo, task))
    const [target = tip] = await stepsOf(vault, tip, to)
    const changes = await compareTrees(vault.objects, tip.tree, target.tree)
    const files = Array.from(changes, ([file, change]): FileChange => {
      return { path: file, status: !change.from ? 'added' : change.to ? 'modified' : 'deleted' }
    })
    const overlay = await overlays.read(vault, task, tip)
    return { tip, overlay, found: { tree: target.tree, files, skipped: [], news: new Map() } }
  }

  return {
    ...vaultContents(open),
    async prepare(repo, task) {
      const vault = await open(repo)
      await vault.files.makeFolder(taskFolder(vault.vault, task), 0o700)
      await allEnded([keepIndex(vault, repo, task), keepConfig(vault, repo, taskFolder(vault.vault, task))])
    },
    prepareSlot: async (repo, slot, commit, signal) =>
      prepareSlot(await open(repo), repo, slot, commit, signal),
    takeSlot: async (repo, task, slot) => takeSlot(await open(repo), task, slot),
    findConversions: async (repo, signal) => findConversions(await open(repo), repo, signal),
    isPlain: (repo, task) =>
      isPlain({ ...options, gitDir: workspacePlace(repo, task).gitDir, commonDir: repo.commonDir }),
    seed: async (repo, task, signal) => seed(await openFor(repo, task), repo, task, signal),
    seedWith: async (repo, task, changes, signal) =>
      makeSeedWith(await open(repo), repo, task, changes, signal),
    async readStart(repo, task, signal) {
      const vault = await open(repo)
      return startTree(vault, task, await seed(vault, repo, task, signal), signal)
    },
    findTip: async (repo, task) => findTip(await openFor(repo, task), task),
    async readSteps(repo, task) {
      const vault = await openFor(repo, task)
      const tip = await findTip(vault, task)
      return tip ? stepsOf(vault, tip) : []
    },
    adopt: async (repo, task, signal) => {
      const vault = await open(repo)
      await adopt(vault, task, (await seed(vault, repo, task, signal)).tree, signal)
    },
    readFiles: async (repo, steps, signal) => filesOf(await open(repo), steps, signal),
    async snapshot(repo, task, note, paths, signal): Promise<Snapshot> {
      const vault = await openFor(repo, task)
      const { tip, overlay, found } =
        note.rewindTo === undefined
          ? await captureDifference(vault, repo, task, paths, signal)
          : await planRewind(vault, repo, task, note.rewindTo)
      const created = found.files.length > 0 || note.rewindTo !== undefined || note.basis !== undefined
      const n = tip.n + 1
      const step = created
        ? await commitStep(vault, task, found.tree, tip.commit, { ...note, n, skipped: found.skipped })
        : tip
      await overlays.note(vault, task, overlay, step, found.news)
      return { step, created, files: found.files.map((file) => ({ ...file, path: toText(file.path) })) }
    },
    async keepOut(repo, task, paths) {
      const vault = await open(repo)
      await keepOut(files, taskFolder(vault.vault, task), paths)
    },
    async readDirt(repo, task, signal) {
      const vault = await openFor(repo, task)
      if (await isQuiet(vault, task)) return []
      const { tip, overlay, found } = await captureDifference(vault, repo, task, undefined, signal)
      if (found.files.length === 0) await overlays.note(vault, task, overlay, tip, found.news)
      if (found.files.length === 0 || found.tree === (await headTree(vault, repo, task, signal))) return []
      return found.files.map((file) => ({ ...file, path: toText(file.path) }))
    },
    async isKept(repo, task, folder, signal) {
      const vault = await open(repo)
      if (!(await findTip(vault, task))) return false
      const { found } = await captureDifference(vault, repo, { ...task, path: folder }, undefined, signal)
      return found.files.length === 0 && found.skipped.length === 0
    },
    // Does not open the vault: opening would create a missing one.
    readUsage: (repo) => files.readUsage(vaultPlace(options.home, repo).vault),
    async compact(repo, gone, signal) {
      await compact(await open(repo), gone, signal)
      for (const uid of gone.tasks) overlays.forget(uid)
    },
    async reseed(repo, task) {
      const vault = await open(repo)
      const index = path.join(taskFolder(vault.vault, task), taskFiles.index)
      await vault.files.remove(index)
      await vault.files.remove(agedMark(index))
      await keepIndex(vault, repo, task)
    },
    async readIgnored(repo, task, signal) {
      const vault = await open(repo)
      const [found, tip] = [await scanIgnored(exec, scopeOf(vault, task), signal), await findTip(vault, task)]
      const left = tip ? await withoutCaptured(vault.objects, tip.tree, task.path, found) : found
      return left.map(toText)
    },
    readStat: async (repo, from, to, signal) => statOf(await open(repo), from, to, signal),
    readDiff: async (repo, from, to, options, signal) => diffOf(await open(repo), from, to, options, signal),
    async restore(repo, task, from, to, signal) {
      const vault = await open(repo)
      const aside = asideOf(task)
      if (from === null) {
        const index = path.join(taskFolder(vault.vault, task), taskFiles.index)
        const error = await refill(vault, repo, task, to.tree, signal).catch(appError)
        if (!error) return
        if (error.kind === 'cancelled' || error.problem === 'diskFull') throw error
        // Git refuses to write some files of a step, for example a link named .gitmodules. Restoring without git is
        // slower.
        await restore({ ...scopeOf(vault, task), aside }, null, to.tree, signal)
        for (const name of [index, agedMark(index)]) await files.remove(name)
        return
      }
      const restored = await restore({ ...scopeOf(vault, task), aside }, from.tree, to.tree, signal)
      // Restored files stay in the steps even if a rule of that step ignores them: the next capture must see them.
      const tip = await findTip(vault, task)
      if (!tip) return
      await overlays.doubt(vault, task, tip, restored)
    },
    publish: async (repo, task, signal) => {
      const vault = await openFor(repo, task)
      const tip = (await findTip(vault, task)) ?? (await seed(vault, repo, task, signal))
      return publish(vault, repo, task, (since) => stepsOf(vault, tip, since), signal)
    },
    readTree: async (repo, commit) => readTree(await open(repo), commit),
    async clean(repo, task, changes, signal) {
      const vault = await open(repo)
      const { tree } = (await findTip(vault, task)) ?? (await seed(vault, repo, task, signal))
      const contents = new Map(Array.from(changes, ([file, { to }]) => [file, to]))
      return clean(vault, task, tree, contents, signal)
    },
    smudge: async (repo, task, checkout, file, leaf) => smudge(await open(repo), task, checkout, file, leaf),
    commit: async (repo, _, parts, signal) => commitAsUser(await open(repo), repo, parts, signal),
    findRemote: async (repo, task, remote) => findRemote(await open(repo), repo, task, remote),
    makePushRepo: async (repo, task) => makePushRepo(await open(repo), repo, task),
    push: async (repo, task, what, signal) => push(await open(repo), repo, task, what, signal),
    async readReplay(repo, task, signal) {
      const vault = await open(repo)
      const tip = await findTip(vault, task)
      return tip ? readReplay(vault, repo, task, await stepsOf(vault, tip), signal) : []
    },
    async readOwnCommits(repo, task, signal) {
      const vault = await openFor(repo, task)
      const own = await findOwnHeads(vault, repo, task)
      if (own.heads.length + own.joined.length === 0) return { commits: [], unsound: [] }
      const lent = { ...vault, alternates: await lenders(vault, repo, task) }
      const you = await findAuthor(vault, repo, signal)
      return readOwnCommits(lent, { ...own, base: task.base.commit, you }, signal)
    },
    readVaults: () => readVaults(files, options.home),
    readUids: (name) => readUids(files, vaultFolder(options.home, name)),
    readIds: (repo, uids, signal) => readIds(exec, vaultFolder(options.home, repo.name), uids, signal),
    async findRecord(repo, uid) {
      const vault = await open(repo)
      const first = await findStart(vault, uid)
      return first && findRecord(vault, first.commit)
    },
    inspect: (repo, deep, signal) =>
      inspect(files, exec, vaultPlace(options.home, repo), repo.id, deep, signal),
    async remake(repo) {
      const { vault } = vaultPlace(options.home, repo)
      await writeParts(files, vault, await readAlgorithm(files, repo, vault))
      await noteRepo(files, vault, repo)
    },
    async mendTip(repo, task, commit) {
      const vault = await openFor(repo, task)
      return mendTip(vault, task.uid, commit ?? (await findFirstCommit(vault, task)) ?? '')
    },
    readPublished: async (repo, task) => readPublished(await open(repo), task),
    close() {
      for (const opening of opened.values()) opening.then((vault) => vault.reader.close()).catch(() => {})
      opened.clear()
    },
  }
}

/** The folder for files that are in the way of a restore. */
function asideOf(task: Task): string {
  return task.shadow ? shadowAside(task.shadow.gitDir) : trashAsideOf(task.path)
}

/** The tree of the workspace's own HEAD; undefined when its git is broken. */
async function headTree(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const head = await readOwnHead(vault.files, workspacePlace(repo, task))
  if (head === undefined) return undefined
  const { code, stdout } = await vault.exec({
    args: ['rev-parse', '--verify', '--quiet', `${head}^{tree}`],
    gitDir: vault.vault,
    alternates: await lenders(vault, repo, task),
    cwd: vault.vault,
    expect: [1, 128],
    signal,
  })
  return code === 0 ? stdout.toString().trim() : undefined
}
