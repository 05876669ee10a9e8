/**
 * The vault: a bare repository per user repository that only offshoot writes, with one line of steps per task
 * (docs/adr/0006-vault-is-a-repository-of-its-own.md). A plain list: which function does what each port asks for.
 */
import { vaultFolder } from '../core/model/layout.ts'
import type { Contents } from '../core/ports/contents.ts'
import type { Trial } from '../core/ports/trials.ts'
import type { Vault } from '../core/ports/vault.ts'
import { captureAll, captureChanges, captureFiles, findNamed } from './capture/checkout.ts'
import { compareCheckout, lookAtCheckout } from './publish/checkout-look.ts'
import { adoptFirst, prepare, reseed, seed } from './capture/first-step.ts'
import { keepOut } from './capture/kept-out.ts'
import { isKept, readDirt, readIgnored, readPresent } from './capture/look.ts'
import { isPlainWorkspace } from './capture/seed.ts'
import { findConversions, isTouched, prepareSlot, takeSlot } from './capture/slot.ts'
import { seedSetup } from './capture/setup.ts'
import { takeStep } from './capture/take-step.ts'
import { findRecord, inspect, mendTip, readIds, readUids, readVaults } from './journal/known.ts'
import { findKept, keep, noteDone, readKept } from './journal/operations.ts'
import { findTip, readSteps } from './journal/steps.ts'
import { readTree } from './objects/commit.ts'
import { compact } from './objects/compact.ts'
import { findContent, readPieces } from './objects/contents.ts'
import { countsOf, diffOf, filesOf, patchOf, statOf } from './objects/diff.ts'
import { mergeTrees } from './objects/merge.ts'
import { mergeMany } from './objects/merge-many.ts'
import { changeTree, compareTrees, findEntries, findLeaf } from './objects/tree.ts'
import { type Opener, type VaultOptions, vaultOpener } from './open.ts'
import { remakeVault, vaultPlace } from './place.ts'
import { cleanChanges } from './publish/clean.ts'
import { commitAsUser, readReplay, smudge } from './publish/commit.ts'
import { readStart } from './publish/commit-steps.ts'
import { readOwnCommits } from './publish/own-commits.ts'
import { publish } from './publish/publish.ts'
import { readPublished } from './publish/published.ts'
import { findRemote, makePushRepo, push } from './publish/push.ts'
import { draftIndex, findIndexTree, scanAgainst, storeIndexTree } from './restore/drafts.ts'
import { restoreStep } from './restore/restore-step.ts'
import { seedWith } from './restore/seed-with.ts'
import { exportFile } from './restore/write-blob.ts'
import { tryOut } from './trial.ts'

export function gitVault(options: VaultOptions): Vault {
  const { files, exec, home } = options
  const opener = vaultOpener(options)
  const { open, openFor, close } = opener
  return {
    // Step 0.
    prepare: async (repo, task) => prepare(await open(repo), repo, task),
    prepareSlot: async (repo, slot, commit, signal) =>
      prepareSlot(await open(repo), repo, slot, commit, signal),
    isTouched: async (repo, slot) => isTouched(await open(repo), slot),
    takeSlot: async (repo, task, slot) => takeSlot(await open(repo), task, slot),
    findConversions: async (repo, signal) => findConversions(await open(repo), repo, signal),
    isPlain: (repo, task) => isPlainWorkspace(options, repo, task),
    seed: async (repo, task, signal) => seed(await openFor(repo, task), repo, task, signal),
    seedWith: async (repo, task, changes, signal) => seedWith(await open(repo), repo, task, changes, signal),
    seedSetup: async (repo, task, signal) => seedSetup(await openFor(repo, task), repo, task, signal),
    readStart: async (repo, task, part, signal) => readStart(await open(repo), repo, task, part, signal),
    adopt: async (repo, task, signal) => adoptFirst(await open(repo), repo, task, signal),
    reseed: async (repo, task) => reseed(await open(repo), repo, task),

    // Steps.
    ...linesOf(openFor),
    readFiles: async (repo, steps, signal) => filesOf(await open(repo), steps, signal),
    snapshot: async (repo, task, note, paths, follow) =>
      takeStep(await openFor(repo, task), repo, task, note, paths, follow),
    keepOut: async (repo, task, paths) => keepOut(await open(repo), task, paths),
    readPresent: async (repo, task, signal) => readPresent(await openFor(repo, task), repo, task, signal),
    readDirt: async (repo, task, signal) => readDirt(await openFor(repo, task), repo, task, signal),
    isKept: async (repo, task, folder, signal) => isKept(await open(repo), repo, task, folder, signal),
    readIgnored: async (repo, task, signal) => readIgnored(await open(repo), task, signal),
    readCounts: async (repo, from, to, signal) => countsOf(await open(repo), from, to, signal),
    readStat: async (repo, from, to, signal) => statOf(await open(repo), from, to, signal),
    readDiff: async (repo, from, to, how, signal) => diffOf(await open(repo), from, to, how, signal),
    restore: async (repo, task, from, to, follow) =>
      restoreStep(await open(repo), repo, task, from, to, follow),
    mendTip: async (repo, task, commit) => mendTip(await openFor(repo, task), task, commit),

    // Commits of the user's repository.
    publish: async (repo, task, signal) => publish(await openFor(repo, task), repo, task, signal),
    readPublished: async (repo, task) => readPublished(await open(repo), task),
    readReplay: async (repo, task, signal) => readReplay(await open(repo), repo, task, signal),
    ...conversionsOf(open),
    commit: async (repo, _, parts, signal) => commitAsUser(await open(repo), repo, parts, signal),
    findRemote: async (repo, task, remote) => findRemote(await open(repo), repo, task, remote),
    makePushRepo: async (repo, task) => makePushRepo(await open(repo), repo, task),
    readOwnCommits: async (repo, task, signal) =>
      readOwnCommits(await openFor(repo, task), repo, task, signal),
    push: async (repo, task, what, signal) => push(await open(repo), repo, task, what, signal),

    // The vault as a whole. Most of it must not open the vault: opening would create a missing one.
    readUsage: (repo) => files.readUsage(vaultPlace(home, repo).vault),
    compact: async (repo, gone, signal) => compact(await open(repo), gone, signal),
    readVaults: () => readVaults(files, home),
    readUids: (name) => readUids(files, vaultFolder(home, name)),
    readIds: (repo, uids, signal) => readIds(exec, vaultFolder(home, repo.name), uids, signal),
    findRecord: async (repo, uid) => findRecord(await open(repo), uid),
    inspect: (repo, deep, signal) => inspect(files, exec, vaultPlace(home, repo), repo.id, deep, signal),
    remake: (repo) => remakeVault(files, home, repo),

    ...contentsOf(opener),
    tryOut: async (repo, task, work) =>
      tryOut(await openFor(repo, task), (trial, { folder, alone }) => {
        const opened = async () => trial
        return work({
          contents: contentsOf({ open: opened, openFor: opened }),
          publishing: conversionsOf(opened),
          steps: linesOf(opened),
          mergeMany: (_, inputs, signal) => mergeMany(trial, inputs, signal),
          alone,
          folder,
        })
      }),

    // Index files of a checkout.
    scan: async (repo, checkout, index, signal) => scanAgainst(await open(repo), checkout, index, signal),
    findIndexTree: async (repo, index) => findIndexTree(await open(repo), index),
    storeIndexTree: async (repo, index) => storeIndexTree(await open(repo), index, repo.commonDir),
    draftIndex: async (repo, index, change) => draftIndex(await open(repo), index, change),

    // Operations.
    keep: async (repo, kept) => keep(await open(repo), kept),
    findKept: async (repo, name) => findKept(await open(repo), name),
    noteDone: async (repo, done) => noteDone(await open(repo), done),
    readKept: async (repo) => readKept(await open(repo)),

    close,
  }
}

/** Files and trees. */
function contentsOf({ open, openFor }: Pick<Opener, 'open' | 'openFor'>): Contents {
  return {
    compare: async (repo, from, to) => compareTrees((await open(repo)).objects, from, to),
    readPatch: async (repo, from, to, signal) => patchOf(await open(repo), from, to, signal),
    write: async (repo, content) => (await open(repo)).objects.put('blob', Buffer.from(content)),
    change: async (repo, tree, changes) => (await changeTree((await open(repo)).objects, tree, changes)).tree,
    capture: async (repo, folder, paths, known, follow) =>
      captureFiles(await open(repo), folder, paths, known, follow),
    captureAll: async (repo, checkout, follow) => captureAll(await open(repo), repo, checkout, follow),
    captureChanges: async (repo, checkout, commit, follow) =>
      captureChanges(await open(repo), repo, checkout, commit, follow),
    lookAtCheckout: async (repo, task, signal) => lookAtCheckout(await openFor(repo, task), repo, signal),
    compareCheckout: async (repo, task, seen) => compareCheckout(await open(repo), repo, task, seen),
    findIgnored: async (repo, checkout, patterns, folders, signal) =>
      findNamed(await open(repo), repo, checkout, patterns, folders, signal),
    merge: async (repo, input, signal) => mergeTrees(await open(repo), input, signal),
    findEntries: async (repo, tree, folder) => findEntries((await open(repo)).objects, tree, folder),
    findLeaf: async (repo, tree, file) => findLeaf((await open(repo)).objects, tree, file),
    findContent: async (repo, leaf, limit) => findContent(await open(repo), leaf, limit),
    readPieces: async (repo, leaf, onPiece) => readPieces(await open(repo), leaf, onPiece),
    readContent: async (repo, leaf) => (await open(repo)).objects.readObject(leaf.oid),
    exportFile: async (repo, leaf, target) => exportFile(await open(repo), leaf, target),
  }
}

/** Files on their way between a commit and a checkout. */
function conversionsOf(open: Opener['open']): Trial['publishing'] {
  return {
    readTree: async (repo, commit) => readTree(await open(repo), commit),
    clean: async (repo, task, changes, signal) => cleanChanges(await open(repo), repo, task, changes, signal),
    smudge: async (repo, task, checkout, file, leaf) => smudge(await open(repo), task, checkout, file, leaf),
  }
}

/** The lines of steps. */
function linesOf(openFor: Opener['openFor']): Trial['steps'] {
  return {
    findTip: async (repo, task) => findTip(await openFor(repo, task), task),
    readSteps: async (repo, task) => readSteps(await openFor(repo, task), task),
  }
}
