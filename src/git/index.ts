import type { Files, Git, Place } from '../core/ports.ts'
import type { GitExec } from './exec.ts'
import { findHolder } from './held.ts'
import { runHook } from './hooks.ts'
import { isAncestor, isSquashed, readBeside } from './landed.ts'
import { readLocks } from './locks.ts'
import { findRepoMark, writeRepoMark } from './mark.ts'
import { changeLoose, isMove } from './loose-refs.ts'
import {
  changeRefs,
  clearRefLocks,
  findCommit,
  findReflogMessage,
  findRef,
  findRivals,
  isInReflog,
  moveHead,
  readHeadBranch,
  readRefs,
} from './refs.ts'
import { findPointers } from './lfs.ts'
import { fillSubmodules } from './submodules.ts'
import { readSurroundings } from './surroundings.ts'
import { requireVersion, type VersionNotes } from './version.ts'
import { readRegistrations, readWorktrees } from './worktree.ts'

/** The git command behind the port. */
export function commandGit(exec: GitExec, files: Files, notes: VersionNotes, env: NodeJS.ProcessEnv): Git {
  /** One that fails may have left its locks. */
  const withoutLocks = async <T>(place: Place, refs: readonly { ref: string }[], work: () => Promise<T>) => {
    const begun = Date.now()
    try {
      return await work()
    } catch (error) {
      const names = refs.map(({ ref }) => ref)
      await clearRefLocks(files, place, names, begun)
      throw error
    }
  }
  /** In process where that can be tried; git judges the rest. */
  const change = (tries: boolean, ...asked: Parameters<Git['changeRefs']>) => {
    const [place, changes] = asked
    return withoutLocks(
      place,
      changes,
      async () => (tries && (await changeLoose(files, ...asked))) || changeRefs(exec, ...asked),
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
    isAncestor: (place, commit, of, signal) => isAncestor(exec, place, commit, of, signal),
    readBeside: (place, tip, target, signal) => readBeside(exec, place, tip, target, signal),
    isSquashed: (place, tip, target, signal) => isSquashed(exec, place, tip, target, signal),
    readSurroundings: (place) => readSurroundings(exec, place),
    findRepoMark: (place, signal) => findRepoMark(exec, place, signal),
    writeRepoMark: (place, id, signal) => writeRepoMark(exec, place, id, signal),
    fillSubmodules: (repo, task, commit, signal) => fillSubmodules(exec, files, repo, task, commit, signal),
    findPointers: (repo, task, signal) => findPointers(exec, files, repo, task, signal),
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
    moveHead: (place, branch, message) => moveHead(exec, place, branch, message),
    clearRefLocks: (place, refs, since) =>
      clearRefLocks(files, place, refs, since === undefined ? 0 : Date.parse(since)),
  }
}
