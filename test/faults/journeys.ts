/** The verbs under fault, one row each. A new verb is a new row. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { call } from '../../src/api/handlers.ts'
import type { Ports } from '../../src/core/ports.ts'
import type { Stage } from './lane.ts'
import { difference } from './tree.ts'
import { baseInside, ourBranch, type World } from './world.ts'

export interface Journey {
  readonly name: string
  /** Settings, as variables. */
  readonly env?: Readonly<Record<string, string>>
  /** Struck by every kind of fault; the others by those that can tell them apart. */
  readonly main?: true
  /** Its git calls are worth dying in at every system call. */
  readonly inside?: true
  /** The state folder is on another file system than the repository. */
  readonly apart?: true
  /** Makes the world that the verb finds; the user's checkout is there already. */
  prepare(stage: Stage): Promise<void>
  act(ports: Ports, dir: string, signal?: AbortSignal): Promise<unknown>
  /** What must work afterwards, whatever happened: by default `start` of the same id. */
  again?(ports: Ports, dir: string): Promise<unknown>
  /** What is wrong with the world after recovery, beyond what is wrong for every verb. */
  check(seen: Seen): string[]
}

interface Seen {
  readonly before: World
  readonly after: World
  /** The verb said that it was done. */
  readonly acknowledged: boolean
}

const start = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.start', { repo, task: 'T1', ...more }, signal)

const remove = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'worktree.remove', { repo, task: 'T1', ...more }, signal)

/** Whole: one more open task. Undone: nothing of it, not even the log of its branch. */
function startedOrUndone({ before, after, acknowledged }: Seen): string[] {
  if (after.open.length > 0) return []
  return [
    ...(acknowledged ? ['the start was acknowledged, and there is no task'] : []),
    ...difference(before.ourRefs, withoutMark(after)).map((line) => `undone, but ${line}`),
    ...after.ourLogs.map((log) => `undone, but ${log} is left`),
    ...Object.keys(after.registrations).map((name) => `undone, but worktrees/${name} is left`),
    ...Object.keys(after.workspaces).map((name) => `undone, but the workspace ${name} is left`),
  ]
}

/** The repository stays known: that is not undone. */
function withoutMark({ ourRefs }: World): World['ourRefs'] {
  const { 'refs/offshoot/repo': _, ...rest } = ourRefs
  return rest
}

/** Whole: the folder is there again. Undone: it is missing as before, and the task is open as before. */
function recreatedOrUndone({ before, after, acknowledged }: Seen): string[] {
  const there = Object.keys(after.workspaces).length === 1
  return [
    ...(after.open.length === 1 ? [] : ['the task is gone']),
    ...(acknowledged && !there ? ['the start was acknowledged, and there is no workspace'] : []),
    ...(!there && Object.keys(after.registrations).length > Object.keys(before.registrations).length
      ? ['undone, but a registration is left']
      : []),
  ]
}

/** Not begun: as it was. Begun: gone, and every byte of the workspace is in the trash. */
function removedOrUntouched(keepsBranch: boolean) {
  return ({ before, after, acknowledged }: Seen): string[] => {
    const [name] = Object.keys(before.workspaces)
    const workspace = before.workspaces[name!]!
    if (after.open.length > 0) {
      return [
        ...(acknowledged ? ['the removal was acknowledged, and the task is open'] : []),
        ...difference(before.ourRefs, after.ourRefs).map((line) => `not removed, but ${line}`),
        ...difference(before.registrations, after.registrations).map((line) => `not removed, but ${line}`),
        ...difference(before.workspaces, after.workspaces).map((line) => `not removed, but ${line}`),
      ]
    }
    const [task] = after.closed
    const kept = after.ourRefs[`refs/offshoot/trash/${task?.uid}`]
    const inTrash = Object.entries(after.trash[name!] ?? {})
      .filter(([file]) => file.startsWith('workspace/'))
      .map(([file, value]) => [file.slice('workspace/'.length), value])
    return [
      ...difference(workspace, Object.fromEntries(inTrash)).map((line) => `in the trash, ${line}`),
      ...Object.keys(after.workspaces).map((left) => `removed, but the workspace ${left} is left`),
      ...Object.keys(after.registrations).map((left) => `removed, but worktrees/${left} is left`),
      ...('HEAD' in (before.registrations[name!] ?? {}) &&
      !('registration/HEAD' in (after.trash[name!] ?? {}))
        ? ['the registration is not in the trash']
        : []),
      ...(keepsBranch === ourBranch in after.ourRefs
        ? []
        : [`the branch is ${keepsBranch ? 'gone' : 'left'}`]),
      ...(keepsBranch || kept === before.ourRefs[ourBranch]
        ? []
        : ['the commits of the branch are not held']),
      ...Object.keys(after.ourRefs)
        .filter((ref) => ref.startsWith('refs/offshoot/base/'))
        .map((ref) => `removed, but ${ref} is left`),
    ]
  }
}

async function started(stage: Stage): Promise<string> {
  const ports = stage.ports()
  try {
    return (await start(ports, stage.dir)).task.path
  } finally {
    await ports.close()
  }
}

/** The agent has committed something, and made a file that git ignores. */
async function startedAndCommitted(stage: Stage): Promise<string> {
  const workspace = await started(stage)
  writeFileSync(path.join(workspace, 'work.txt'), 'work\n')
  writeFileSync(path.join(workspace, 'build.log'), 'built\n')
  const quiet = ['-C', workspace, '-c', 'core.hooksPath=/dev/null']
  await stage.git(...quiet, 'add', '--all')
  await stage.git(...quiet, 'commit', '--quiet', '--message=Work')
  return workspace
}

/** Everything that would be lost if the folder were deleted. */
async function startedAndDirty(stage: Stage): Promise<void> {
  const workspace = await startedAndCommitted(stage)
  const write = (name: string, content: string) => writeFileSync(path.join(workspace, name), content)
  write('a.txt', 'edited\n')
  write('staged.txt', 'staged\n')
  await stage.git('-C', workspace, 'add', 'staged.txt')
  mkdirSync(path.join(workspace, 'new'))
  write('new/untracked.bin', '\0\u00ff')
  symlinkSync('../a.txt', path.join(workspace, 'new/link'))
}

const nothing = async () => {}

export const journeys: readonly Journey[] = [
  {
    name: 'start',
    main: true,
    inside: true,
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'start --existing-branch',
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, { existingBranch: 'feature' }, signal),
    again: (ports, dir) => start(ports, dir, { existingBranch: 'feature' }),
    check: startedOrUndone,
  },
  {
    name: 'start, base inside the repo',
    env: { OFFSHOOT_WORKSPACE_BASE: baseInside },
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'recreate',
    prepare: async (stage) => rmSync(await startedAndCommitted(stage), { recursive: true }),
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: recreatedOrUndone,
  },
  {
    name: 'recreate, branch gone too',
    inside: true,
    async prepare(stage) {
      rmSync(await started(stage), { recursive: true })
      await stage.git('-c', 'core.hooksPath=/dev/null', 'update-ref', '-d', ourBranch)
    },
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: recreatedOrUndone,
  },
  {
    name: 'remove',
    inside: true,
    prepare: async (stage) => void (await startedAndCommitted(stage)),
    act: (ports, dir, signal) => remove(ports, dir, {}, signal),
    check: removedOrUntouched(false),
  },
  {
    name: 'remove --force, dirty',
    main: true,
    prepare: startedAndDirty,
    act: (ports, dir, signal) => remove(ports, dir, { force: true }, signal),
    check: removedOrUntouched(false),
  },
  {
    name: 'remove --keep-branch',
    prepare: async (stage) => void (await startedAndCommitted(stage)),
    act: (ports, dir, signal) => remove(ports, dir, { keepBranch: true }, signal),
    again: (ports, dir) => start(ports, dir, { existingBranch: 'offshoot/T1' }),
    check: removedOrUntouched(true),
  },
  {
    name: 'remove, refs packed',
    inside: true,
    async prepare(stage) {
      await startedAndCommitted(stage)
      await stage.git('-c', 'core.hooksPath=/dev/null', 'pack-refs', '--all')
    },
    act: (ports, dir, signal) => remove(ports, dir, {}, signal),
    check: removedOrUntouched(false),
  },
  {
    name: 'repos forget',
    prepare: async (stage) => void (await startedAndCommitted(stage)),
    act: (ports, dir, signal) => call(ports, 'system.forget', { repo: dir }, signal),
    check: removedOrUntouched(false),
  },
  {
    name: 'remove, state on another disk',
    apart: true,
    prepare: startedAndDirty,
    act: (ports, dir, signal) => remove(ports, dir, { force: true }, signal),
    check: removedOrUntouched(false),
  },
]
