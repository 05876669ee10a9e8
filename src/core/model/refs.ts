/** The names of the refs that offshoot keeps in the user's repository. */

/** Holds the repository's id, so that it is known again after it was moved. */
export const markRef = 'refs/offshoot/repo'

/** Keeps the base commit from being collected while the task is open. */
export function pinRef(uid: string): string {
  return `refs/offshoot/base/${uid}`
}

/** Keeps what was staged in a checkout from being collected while a task works there, and for as long as the trash does. */
export function keptIndexRef(uid: string): string {
  return `refs/offshoot/trash/${uid}-index`
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`
}

/** Of all tasks that are closed. */
export const trashRefs = 'refs/offshoot/trash'

/** Holds what a removed branch pointed at, for as long as the trash keeps the files. */
export function keptRef(uid: string): string {
  return `${trashRefs}/${uid}`
}

/** Holds where the workspace stood when it was on no branch. */
export function keptHeadRef(uid: string): string {
  return `${trashRefs}/${uid}-head`
}

/** All that the trash keeps for a task. */
export function keptRefs(uid: string): readonly string[] {
  return [keptRef(uid), keptHeadRef(uid), keptIndexRef(uid)]
}

/** Below it is what stray refs pointed at before, so that it is not collected. */
export const strayPins = 'refs/offshoot/stray'
