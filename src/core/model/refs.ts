/** The names of the refs that offshoot keeps in the user's repository. */

/** All branches; a branch is below it. */
export const branchRefs = 'refs/heads'

export function branchRef(branch: string): string {
  return `${branchRefs}/${branch}`
}

/** The branch that a ref is; undefined for a ref that is none. */
export function branchOf(ref: string): string | undefined {
  return ref.startsWith(`${branchRefs}/`) ? ref.slice(branchRefs.length + 1) : undefined
}

/** The first line of a HEAD that is on that branch. */
export function headOn(branch: string): string {
  return `ref: ${branchRef(branch)}`
}

/** The branch that the content of a HEAD names; null when it is on none. */
export function branchOfHead(content: string): string | null {
  const [, ref = ''] = /^ref: (.+?)\n?$/.exec(content) ?? []
  return branchOf(ref) || null
}

/** The HEAD of a repository that nobody checks out: it names a branch that is never made. */
export const nowhereHead = `${headOn('none')}\n`

/** Where a fetch keeps a branch of a remote. */
export function remoteRef(remote: string, branch: string): string {
  return `refs/remotes/${remote}/${branch}`
}

/** Our own refs in the user's repository: nobody else writes below it. */
export const ownRefs = 'refs/offshoot'

export function isOurs(ref: string): boolean {
  return ref.startsWith(`${ownRefs}/`)
}

/** Holds the repository's id, so that it is known again after it was moved. */
export const markRef = `${ownRefs}/repo`

/** Keeps the base commit from being collected while the task is open. */
export function pinRef(uid: string): string {
  return `${ownRefs}/base/${uid}`
}

/** The task whose base a ref pins; undefined for a ref that is no pin. */
export function uidOfPin(ref: string): string | undefined {
  const uid = ref.startsWith(pinRef('')) ? ref.slice(pinRef('').length) : ''
  return /^\w+$/.test(uid) ? uid : undefined
}

/** Of all tasks that are closed. */
export const trashRefs = `${ownRefs}/trash`

/** Holds what a removed branch pointed at, for as long as the trash keeps the files. */
export function keptRef(uid: string): string {
  return `${trashRefs}/${uid}`
}

/** Holds where the workspace stood when it was on no branch. */
export function keptHeadRef(uid: string): string {
  return `${trashRefs}/${uid}-head`
}

/** Keeps what was staged in a checkout from being collected while a task works there, and for as long as the trash does. */
export function keptIndexRef(uid: string): string {
  return `${trashRefs}/${uid}-index`
}

/** Below it is what stray refs pointed at before, so that it is not collected. */
export const strayPins = `${ownRefs}/stray`

/** Below it is what the stray refs of one run pointed at before. */
export function strayPinsOf(uid: string, operation: string): string {
  return `${strayPins}/${uid}/${operation}`
}

/** Holds commits of the agent that a publish left off the branch. */
export function leftOutRef(uid: string, commit: string): string {
  return `${strayPinsOf(uid, 'left-out')}/${commit}`
}

/** The task that a ref below `trashRefs` or `strayPins` is kept for; undefined for any other ref. */
export function uidOfKept(ref: string): string | undefined {
  const folder = [trashRefs, strayPins].find((one) => ref.startsWith(`${one}/`))
  const uid = folder && /^[0-9a-z]+/.exec(ref.slice(folder.length + 1))?.[0]
  if (uid === undefined) return undefined
  const isTrash = [keptRef(uid), keptHeadRef(uid), keptIndexRef(uid)].includes(ref)
  return isTrash || ref.startsWith(`${strayPins}/${uid}/`) ? uid : undefined
}

/** The newest step of each task; of a vault. */
export const taskRefs = 'refs/tasks'

export function taskRef(uid: string): string {
  return `${taskRefs}/${uid}`
}

/** The changes of each operation; of a vault. */
export const operationRefs = 'refs/operations'

export function operationRef(id: string): string {
  return `${operationRefs}/${id}`
}
