/** The verbs under fault, one row each. A new verb is a new row. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { call } from '../../src/api/handlers.ts'
import type { Ports } from '../../src/core/ports.ts'
import { shared } from './fixture.ts'
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
  /** It is one operation: in the end as when nothing goes wrong, or as before, and nothing between. */
  readonly operation?: true
  /** Makes the world that the verb finds; the user's checkout is there already. */
  prepare(stage: Stage): Promise<void>
  act(ports: Ports, dir: string, signal?: AbortSignal): Promise<unknown>
  /** What must work afterwards, whatever happened: by default `start` of the same id. */
  again?(ports: Ports, dir: string): Promise<unknown>
  /** What is wrong with the world after recovery, beyond what is wrong for every verb. */
  check?(seen: Seen): string[]
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

interface Work {
  /** Also a file that the user is editing, at another place of it. */
  readonly shared: boolean
}

/** An agent has worked: files changed, added in a new folder, deleted with theirs, and made executable. */
async function startedAndWorked(stage: Stage, { shared: also }: Work = { shared: true }): Promise<string> {
  const workspace = await started(stage)
  const write = (name: string, content: string) => writeFileSync(path.join(workspace, name), content)
  if (also) write('a.txt', shared('one', 'of the agent'))
  mkdirSync(path.join(workspace, 'new/deep'), { recursive: true })
  write('new/deep/file.txt', 'new\n')
  symlinkSync('../a.txt', path.join(workspace, 'new/link'))
  rmSync(path.join(workspace, 'old'), { recursive: true })
  write('src/b.txt', 'three\n')
  chmodSync(path.join(workspace, 'src/b.txt'), 0o755)
  write('build.log', 'built\n')
  return workspace
}

const act = async (stage: Stage, verb: (ports: Ports) => Promise<unknown>) => {
  const ports = stage.ports()
  try {
    await verb(ports)
  } finally {
    await ports.close()
  }
}

const checkpoint = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.checkpoint', { repo, task: 'T1', ...more }, signal)

/** Step 1 is taken, and more has been done since. */
async function workedOn(stage: Stage): Promise<void> {
  const workspace = await startedAndWorked(stage)
  await act(stage, (ports) => checkpoint(ports, stage.dir))
  writeFileSync(path.join(workspace, 'a.txt'), 'edited after step 1\n')
  writeFileSync(path.join(workspace, 'later.txt'), 'later\n')
}

const accept = (ports: Ports, repo: string, more: object, signal?: AbortSignal) =>
  call(ports, 'task.accept', { repo, task: 'T1', ...more }, signal)

/** A step is taken, and more has been done since; nothing that the user is editing. */
async function readyToLand(stage: Stage, work: Work = { shared: false }): Promise<void> {
  const workspace = await startedAndWorked(stage, work)
  await act(stage, (ports) => checkpoint(ports, stage.dir))
  writeFileSync(path.join(workspace, 'src/run.sh'), '#!/bin/sh\ntrue\n')
}

/** It has been done, and is to be undone. */
const after =
  (prepare: (stage: Stage) => Promise<void>, verb: (ports: Ports, dir: string) => Promise<unknown>) =>
  async (stage: Stage) => {
    await prepare(stage)
    await act(stage, (ports) => verb(ports, stage.dir))
  }

const undo = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'system.undo', { repo }, signal)

const rewind = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'task.rewind', { repo, task: 'T1', to: 0 }, signal)

const reject = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'task.reject', { repo, task: 'T1' }, signal)

const script = 'echo ran >ran.txt && rm later.txt && echo again >>ran.txt'

const run = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(
    ports,
    'task.run',
    { repo, task: 'T1', starts: false, command: ['sh', '-c', script] },
    signal,
    () => {},
  )

/** Whatever the command did is in the last step, and the run has ended; or nothing was done. */
function sweptUp({ before, after, acknowledged }: Seen): string[] {
  const [name = ''] = Object.keys(before.workspaces)
  const ran = 'ran.txt' in (after.workspaces[name] ?? {})
  const { state, runs } = after.open[0] ?? { state: 'gone', runs: 0 }
  return [
    ...(acknowledged && (state !== 'completed' || !ran) ? [`acknowledged, but ${state}`] : []),
    ...(!acknowledged && runs > 0 && state !== 'failed' && state !== 'completed'
      ? [`the run has ended, and the task is ${state}`]
      : []),
    ...(ran || difference(before.workspaces, after.workspaces).length === 0 ? [] : ['the workspace changed']),
  ]
}

/** One more step, which is the workspace as it is, and the branch has it; or as before. */
function takenOrNot({ before, after, acknowledged }: Seen): string[] {
  const [[uid, had] = ['', []]] = Object.entries(before.steps)
  const steps = after.steps[uid] ?? []
  const news = steps.length - had.length
  return [
    ...(news === 0 || news === 1 ? [] : [`${news} new steps`]),
    ...(acknowledged && news === 0 ? ['the step was acknowledged, and there is none'] : []),
    ...(acknowledged && after.open[0]?.checkpoints !== steps.length - 1 ? ['its event is missing'] : []),
    ...(acknowledged && !after.open[0]?.unpublished && before.ourRefs[ourBranch] === after.ourRefs[ourBranch]
      ? ['it was acknowledged, and the branch is where it was']
      : []),
    ...difference(before.workspaces, after.workspaces).map((line) => `the workspace: ${line}`),
  ]
}

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
  {
    name: 'checkpoint',
    main: true,
    prepare: workedOn,
    act: (ports, dir, signal) => checkpoint(ports, dir, {}, signal),
    check: takenOrNot,
  },
  {
    name: 'checkpoint, file named',
    prepare: workedOn,
    act: (ports, dir, signal) => checkpoint(ports, dir, { files: ['a.txt', 'later.txt'] }, signal),
    check: takenOrNot,
  },
  {
    name: 'checkpoint, agent committed',
    async prepare(stage) {
      const workspace = await startedAndCommitted(stage)
      writeFileSync(path.join(workspace, 'later.txt'), 'later\n')
    },
    act: (ports, dir, signal) => checkpoint(ports, dir, {}, signal),
    check: takenOrNot,
  },
  {
    name: 'rewind',
    operation: true,
    prepare: workedOn,
    act: (ports, dir, signal) => rewind(ports, dir, signal),
  },
  {
    name: 'undo of rewind',
    operation: true,
    prepare: after(workedOn, rewind),
    act: undo,
  },
  {
    name: 'update',
    operation: true,
    prepare: workedOn,
    act: (ports, dir, signal) =>
      call(ports, 'task.update', { repo: dir, task: 'T1', onto: 'feature' }, signal),
  },
  {
    name: 'run -- command',
    prepare: workedOn,
    act: (ports, dir, signal) => run(ports, dir, signal),
    check: sweptUp,
  },
  {
    name: 'accept --as patch',
    main: true,
    operation: true,
    prepare: (stage) => readyToLand(stage, { shared: true }),
    act: (ports, dir, signal) => accept(ports, dir, { as: 'patch' }, signal),
  },
  ...(['squash', 'merge', 'rebase', 'keep-branch'] as const).map(
    (as): Journey => ({
      name: `accept --as ${as}`,
      operation: true,
      prepare: (stage) => readyToLand(stage),
      act: (ports, dir, signal) => accept(ports, dir, { as }, signal),
    }),
  ),
  {
    name: 'accept --only',
    operation: true,
    prepare: (stage) => readyToLand(stage, { shared: true }),
    act: (ports, dir, signal) => accept(ports, dir, { only: ['a.txt', 'new'] }, signal),
  },
  {
    name: 'reject',
    operation: true,
    prepare: (stage) => readyToLand(stage),
    act: (ports, dir, signal) => reject(ports, dir, signal),
  },
  {
    name: 'delete',
    operation: true,
    prepare: (stage) => readyToLand(stage),
    act: (ports, dir, signal) => call(ports, 'task.delete', { repo: dir, task: 'T1' }, signal),
  },
  {
    name: 'undo of accept --as patch',
    operation: true,
    prepare: after(
      (stage) => readyToLand(stage, { shared: true }),
      (ports, dir) => accept(ports, dir, { as: 'patch' }),
    ),
    act: undo,
  },
  {
    name: 'undo of accept --as squash',
    operation: true,
    prepare: after(readyToLand, (ports, dir) => accept(ports, dir, { as: 'squash' })),
    act: undo,
  },
  {
    name: 'undo of reject',
    operation: true,
    prepare: after(readyToLand, reject),
    act: undo,
  },
]
