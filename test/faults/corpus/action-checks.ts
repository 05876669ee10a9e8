/** The four questions that every action is followed by. Each answers what is wrong, in words. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import {
  changes,
  complaints,
  folderState,
  plainGit,
  readObjects,
  repoState,
  type State,
} from '../../support/control.ts'
import type { Action, CorpusFixture } from './action.ts'
import { differences, type FolderShot, readFolder, readStep, type Shots, text } from './files.ts'

export interface Taken {
  readonly created: boolean
  readonly checkpoint: {
    readonly n: number
    readonly commit: string
    readonly skipped: readonly { readonly path: string }[]
  }
  readonly ignored: readonly string[]
}

const isRoot = process.getuid?.() === 0

/** The step holds every file byte for byte, and names what it does not hold. */
export function nextIsComplete(
  action: Action,
  space: string,
  vault: string,
  { created, checkpoint, ignored }: Taken,
  before: Shots,
  moving: Shots | undefined,
): string[] {
  const wrong = created ? [] : ['no step was made']
  const disk = readFolder(space)
  const step = new Map(readStep(vault, checkpoint.commit))
  const named = checkpoint.skipped.map((skip) => skip.path).toSorted()
  const skipped = [...(action.skipped ?? []), ...(isRoot ? [] : (action.unreadable ?? []))].toSorted()
  if (named.join('\n') !== skipped.join('\n'))
    wrong.push(`it names ${named.join(', ') || 'nothing'} as not taken`)
  if (action.ignored && [...ignored].toSorted().join('\n') !== [...action.ignored].toSorted().join('\n')) {
    wrong.push(`it names ${ignored.join(', ') || 'nothing'} as ignored`)
  }
  if (action.moving !== undefined) {
    if (!moving) wrong.push(`${action.moving} is at no state that it ever had`)
    step.delete(action.moving)
  }
  for (const name of disk.odd) {
    if (![...named].some((skip) => isWithin(text(name), skip) || isWithin(skip, text(name)))) {
      wrong.push(`${text(name)} is not named`)
    }
  }
  // Of a submodule the step holds the pointer, and says that it holds no more.
  const pointers = [...step.keys()].filter((name) => isPointer(step.get(name)) && named.includes(text(name)))
  for (const name of pointers) step.delete(name)
  for (const [name, shot] of disk.files) {
    if (name === action.moving || step.get(name) === shot) continue
    if (pointers.some((pointer) => isWithin(name, pointer))) continue
    const hidden = ignored.some((rule) => isWithin(text(name), rule)) && !before.has(name)
    if (step.has(name) || !hidden) wrong.push(`${text(name)} ${step.has(name) ? 'differs' : 'is missing'}`)
  }
  for (const name of step.keys()) {
    if (disk.files.has(name)) continue
    // What could not be read stays as the step before had it.
    const kept = [...disk.odd].some((odd) => isWithin(name, odd)) && step.get(name) === before.get(name)
    if (!kept || !named.includes(text(name))) wrong.push(`${text(name)} is too much`)
  }
  return wrong
}

function isPointer(shot: string | undefined): boolean {
  return shot?.startsWith('160000 ') === true
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** A step back has brought the files back; what no step had may stay. */
export function isBack(space: string, all: Shots, { ignored, checkpoint }: Taken): string[] {
  const disk: FolderShot = readFolder(space)
  // A file that may not be read is as nobody knows; the step says so.
  const step = new Map(
    [...all].filter(([name, shot]) => !isPointer(shot) && ![...disk.odd].some((odd) => isWithin(name, odd))),
  )
  const rest = [...ignored, ...checkpoint.skipped.map((skip) => skip.path)]
  const there = new Map(
    [...disk.files].filter(([name]) => step.has(name) || !rest.some((rule) => isWithin(text(name), rule))),
  )
  return differences(step, there).map((line) => `after the rewind ${line}`)
}

/** Every step so far holds what it held. */
export function earlierAreReadable(
  vault: string,
  steps: readonly { commit: string; shots: Shots }[],
): string[] {
  return steps.flatMap(({ commit, shots }, n) => {
    try {
      return differences(shots, readStep(vault, commit)).map((line) => `step ${n}: ${line}`)
    } catch (error) {
      return [`step ${n}: ${(error as Error).message}`]
    }
  })
}

/** `git fsck` of the vault, alone or reading through to the user's objects. */
export function vaultIsSound(vault: string, repo?: string): string[] {
  const objects = repo && path.join(repo, '.git', 'objects')
  const env = { ...process.env, ...(objects && { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects }) }
  const args = ['--git-dir', vault, 'fsck', '--full', '--no-dangling', '--no-progress']
  const { status, stdout, stderr } = spawnSync('git', args, { env, encoding: 'utf8' })
  const said = (stdout + stderr).split('\n').filter((line) => line !== '' && !line.startsWith('notice:'))
  return status === 0 && said.length === 0 ? [] : [`fsck of the vault: ${said.slice(0, 3).join('; ')}`]
}

/** All that the user has beside the workspace. */
export interface UserState {
  readonly repo: State
  readonly other: State
  readonly outside: State
  readonly objects: ReadonlySet<string>
  readonly complaints: ReadonlySet<string>
}

/** `exact`: to be compared with itself at another moment. Otherwise with a copy elsewhere. */
export function userState(
  { repo, other, outside, space }: Omit<CorpusFixture, 'space'> & { space?: string },
  exact: boolean,
): UserState {
  const places = exact ? undefined : { '<space>': space ?? '<space>', '<user>': path.dirname(repo) }
  return {
    repo: repoState(repo, places),
    other: repoState(other, places),
    outside: folderState(outside),
    objects: readObjects(repo),
    complaints: complaints(repo, places ?? {}),
  }
}

/** P1: nothing is other than it was, or than it is without offshoot. */
export function userIsAsPromised(expected: UserState, actual: UserState): string[] {
  const lost = [...expected.objects].filter((oid) => !actual.objects.has(oid))
  return [
    ...changes(expected.repo, actual.repo),
    ...changes(expected.other, actual.other).map((line) => `the other repository: ${line}`),
    ...changes(expected.outside, actual.outside),
    ...lost.map((oid) => `the object ${oid} is lost`),
    ...[...actual.complaints].filter((line) => !expected.complaints.has(line)).map((line) => `fsck: ${line}`),
  ]
}

/** What came into the repository is what its refs of ours need, and nothing else. */
export function onlyOursCame(repo: string, before: ReadonlySet<string>): string[] {
  const lines = plainGit(repo, 'rev-list', '--objects', '--glob=refs/offshoot', '--glob=refs/heads/offshoot')
  const wanted = new Set(lines.split('\n').map((line) => line.slice(0, 40)))
  const ours = plainGit(repo, 'for-each-ref', '--format=%(objectname)', 'refs/offshoot').split('\n')
  for (const oid of ours) wanted.add(oid)
  return [...readObjects(repo)]
    .filter((oid) => !before.has(oid) && !wanted.has(oid))
    .map((oid) => `the object ${oid} belongs to nothing`)
}
