import type { Files, Git } from '../core/ports.ts'
import type { GitExec } from './exec.ts'
import { findRepoMark, writeRepoMark } from './mark.ts'
import {
  changeRefs,
  clearRefLocks,
  findCommit,
  findReflogMessage,
  findRef,
  findRivals,
  isInReflog,
  readHeadBranch,
} from './refs.ts'
import { requireVersion, type VersionNotes } from './version.ts'
import { readWorktrees } from './worktree.ts'

/** The git command behind the port. */
export function commandGit(exec: GitExec, files: Files, notes: VersionNotes, env: NodeJS.ProcessEnv): Git {
  return {
    requireVersion: (signal) => requireVersion(exec, notes, env, signal),
    readHeadBranch,
    findCommit: (place, rev, signal) => findCommit(exec, place, rev, signal),
    findRef: (place, ref, signal) => findRef(exec, place, ref, signal),
    findRivals: (place, branch, signal) => findRivals(exec, place, branch, signal),
    findReflogMessage,
    isInReflog,
    readWorktrees: (place) => readWorktrees(files, place),
    findRepoMark: (place, signal) => findRepoMark(exec, place, signal),
    writeRepoMark: (place, id, signal) => writeRepoMark(exec, place, id, signal),
    async changeRefs(place, changes, message, signal) {
      const begun = Date.now()
      try {
        return await changeRefs(exec, place, changes, message, signal)
      } catch (error) {
        const refs = changes.map((change) => change.ref)
        await clearRefLocks(files, place, refs, begun)
        throw error
      }
    },
    clearRefLocks: (place, refs, since) =>
      clearRefLocks(files, place, refs, since === undefined ? 0 : Date.parse(since)),
  }
}
