/** The ports Git, Refs and History, carried out by the git command and by reading git's files. */
import { appError, programFailure } from '../core/model/errors.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Git } from '../core/ports/git.ts'
import type { History } from '../core/ports/history.ts'
import type { Refs } from '../core/ports/refs.ts'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'
import { findHolder } from './held.ts'
import { runHook } from './hooks.ts'
import { isAncestor } from './ancestor.ts'
import { isSquashed, readBeside } from './landed.ts'
import { readLocks } from './locks.ts'
import { findRepoMark, writeRepoMark } from './mark.ts'
import { changeLoose, isMove } from './loose-refs.ts'
import {
  changeRefs,
  clearBrokenRef,
  clearRefLocks,
  clearSharedLocks,
  findCommit,
  findReflogMessage,
  findRef,
  findRivals,
  isInReflog,
  moveHead,
  readHeadBranch,
  readRefs,
} from './refs.ts'
import { readRefMoves } from './ref-moves.ts'
import { readSurroundings } from './surroundings.ts'
import { requireVersion, type VersionNotes } from './version.ts'
import { readRegistrations, readWorktrees } from './worktrees.ts'

/** The git command behind its ports. */
export function commandGit(
  exec: GitExec,
  files: FileSystem,
  notes: VersionNotes,
  env: NodeJS.ProcessEnv,
): Git & Refs & History {
  /** A failed change may leave locks of its refs. The shared locks are removed only if git was killed. */
  const withoutLocks = async <T>(place: Place, refs: readonly { ref: string }[], work: () => Promise<T>) => {
    const from = Date.now()
    try {
      return await work()
    } catch (error) {
      const { gitDir } = place
      const failure = appError(error)
      const names = refs.map(({ ref }) => ref)
      // `locked`: another process holds these locks.
      if (failure.problem !== 'locked') await clearRefLocks(files, place, names, from)
      if (programFailure(failure)?.killed) await clearSharedLocks(files, { gitDir, from, to: Date.now() })
      throw error
    }
  }
  /** Tries the change in process first, if `tries` says so; git does all other changes. */
  const change = (tries: boolean, ...[place, ...asked]: Parameters<Refs['changeRefs']>) => {
    const shared = { ...place, gitDir: place.commonDir }
    return withoutLocks(
      shared,
      asked[0],
      async () =>
        (tries && (await changeLoose(files, shared, ...asked))) || changeRefs(exec, files, shared, ...asked),
    )
  }
  return {
    requireVersion: (signal) => requireVersion(exec, notes, env, signal),
    readHeadBranch,
    findCommit: (place, rev, signal) => findCommit(exec, place, rev, signal),
    findRef: (place, ref, signal) => findRef(exec, place, ref, signal),
    findRivals,
    findReflogMessage,
    isInReflog,
    readWorktrees: (place) => readWorktrees(files, place),
    findHolder: (place, branch) => findHolder(files, place, branch),
    readRegistrations: (place) => readRegistrations(files, place),
    readRefs: (place, below, signal) => readRefs(exec, place, below, signal),
    readLocks,
    isAncestor: ({ commonDir }, commit, of, signal) =>
      isAncestor(exec, { gitDir: commonDir }, commit, of, signal),
    readBeside: (place, tip, target, signal) => readBeside(exec, place, tip, target, signal),
    isSquashed: (place, tip, target, signal) => isSquashed(exec, place, tip, target, signal),
    readSurroundings: (place, seen) => readSurroundings(exec, place, seen),
    readRefMoves: (place, input) => readRefMoves(exec, place, input),
    findRepoMark: (place, signal) => findRepoMark(exec, place, signal),
    writeRepoMark: (place, id, signal) => writeRepoMark(exec, place, id, signal),
    runHook: (place, hook, signal) => runHook(exec, place, hook, signal),
    createRefs: (place, refs, message, signal) =>
      change(
        true,
        place,
        refs.map((made) => ({ ...made, old: null })),
        message,
        signal,
      ),
    changeRefs: (place, changes, message, signal) => change(isMove(changes), place, changes, message, signal),
    moveHead: (place, branch, message) =>
      withoutLocks(place, [], () => moveHead(exec, files, place, branch, message)),
    clearRefLocks: (place, refs, since) =>
      clearRefLocks(files, place, refs, since === undefined ? 0 : Date.parse(since)),
    clearBrokenRef: (place, ref) => clearBrokenRef(files, place, ref),
    clearSharedLocks: (left) => clearSharedLocks(files, left),
  }
}
