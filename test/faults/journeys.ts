/** The verbs under fault, one row each. A new verb is a new row. */
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { call } from '../support/call.ts'
import type { Ports } from '../../src/core/ports/index.ts'
import { strategies, strategyFacts } from '../../src/core/model/strategies.ts'
import {
  askedOrNot,
  broughtBack,
  eachPrunedOrUntouched,
  installedOrNot,
  mendedOrNot,
  recreatedOrUndone,
  removedOrUntouched,
  type Seen,
  startedOrUndone,
  sweptUp,
  takenOrNot,
} from './journey-checks.ts'
import type { Fixture } from './journey-runner.ts'
import {
  after,
  madeAhead,
  madeAheadAndMoved,
  damaged,
  leftInCheckout,
  nothing,
  readyToAsk,
  readyToLand,
  started,
  startedAndCommitted,
  startedAndDirty,
  strayed,
  submoduleElsewhere,
  twoToPrune,
  workedInCheckout,
  workedOn,
  withoutRecords,
  withFreshSlots,
} from './journey-starts.ts'
import {
  accept,
  acceptHunks,
  checkpoint,
  giveUp,
  pool,
  prune,
  redo,
  reject,
  remove,
  repair,
  rewind,
  run,
  start,
  undo,
  undoStrays,
} from './journey-verbs.ts'
import { baseInside, ourBranch, readSnapshot } from './full-snapshot.ts'

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
  /** Where it writes files that are not its own: there a second writer is at work. */
  readonly writes?: 'checkout' | 'shadow' | 'workspace'
  /** Makes the state that the verb finds; the user's checkout is there already. */
  prepare(fixture: Fixture): Promise<void>
  /** Makes a copy of that state as good as the state itself, where a copy looks different. */
  settle?(fixture: Fixture): Promise<void>
  act(ports: Ports, dir: string, signal?: AbortSignal): Promise<unknown>
  /** What puts things right after a fault, where that is not any command that writes. */
  next?(ports: Ports, dir: string): Promise<unknown>
  /** What must work afterwards, whatever happened: by default `start` of the same id. */
  again?(ports: Ports, dir: string): Promise<unknown>
  /** What takes it back, where that is not `undo`. */
  back?(ports: Ports, dir: string): Promise<unknown>
  /** What is wrong with the state after recovery, beyond what is wrong for every verb. */
  check?(seen: Seen): string[]
}

/** The others have rows of their own: a patch meets changes of the user, a pull request needs somebody to ask. */
const onBranches = strategies.filter(
  (as) => strategyFacts[as].lands !== 'files' && strategyFacts[as].final === undefined,
)

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
    name: 'start --dirty',
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, { dirty: true }, signal),
    check: startedOrUndone,
  },
  {
    name: 'start, with ignored files',
    env: { OFFSHOOT_WORKSPACE_LINK: 'ignored.log' },
    prepare: async ({ dir }) => {
      writeFileSync(path.join(dir, '.worktreeinclude'), '*.log\n*.bak\n')
      writeFileSync(path.join(dir, '.env.bak'), 'kept\n')
    },
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'start, with a hook',
    env: { OFFSHOOT_HOOKS_POST_START: 'echo built > build.log' },
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'start, with a submodule',
    prepare: submoduleElsewhere,
    act: (ports, dir, signal) => start(ports, dir, { from: 'with-lib' }, signal),
    again: (ports, dir) => start(ports, dir, { from: 'with-lib' }),
    check: startedOrUndone,
  },
  {
    name: 'start from the pool',
    env: { OFFSHOOT_POOL_SIZE: '1' },
    prepare: madeAhead,
    settle: withFreshSlots,
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'start from the pool, base moved',
    env: { OFFSHOOT_POOL_SIZE: '1' },
    inside: true,
    prepare: madeAheadAndMoved,
    settle: withFreshSlots,
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: startedOrUndone,
  },
  {
    name: 'pool',
    env: { OFFSHOOT_POOL_SIZE: '1' },
    prepare: nothing,
    act: pool,
  },
  {
    name: 'recreate',
    prepare: async (fixture) => rmSync(await startedAndCommitted(fixture), { recursive: true }),
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: recreatedOrUndone,
  },
  {
    name: 'recreate, branch gone too',
    inside: true,
    async prepare(fixture) {
      rmSync(await started(fixture), { recursive: true })
      await fixture.git('-c', 'core.hooksPath=/dev/null', 'update-ref', '-d', ourBranch)
    },
    act: (ports, dir, signal) => start(ports, dir, {}, signal),
    check: recreatedOrUndone,
  },
  {
    name: 'remove',
    inside: true,
    prepare: async (fixture) => void (await startedAndCommitted(fixture)),
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
    prepare: async (fixture) => void (await startedAndCommitted(fixture)),
    act: (ports, dir, signal) => remove(ports, dir, { keepBranch: true }, signal),
    again: (ports, dir) => start(ports, dir, { existingBranch: 'offshoot/T1' }),
    check: removedOrUntouched(true),
  },
  {
    name: 'remove, refs packed',
    inside: true,
    async prepare(fixture) {
      await startedAndCommitted(fixture)
      await fixture.git('-c', 'core.hooksPath=/dev/null', 'pack-refs', '--all')
    },
    act: (ports, dir, signal) => remove(ports, dir, {}, signal),
    check: removedOrUntouched(false),
  },
  {
    name: 'repos forget',
    prepare: async (fixture) => void (await startedAndCommitted(fixture)),
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
    async prepare(fixture) {
      const workspace = await startedAndCommitted(fixture)
      writeFileSync(path.join(workspace, 'later.txt'), 'later\n')
    },
    act: (ports, dir, signal) => checkpoint(ports, dir, {}, signal),
    check: takenOrNot,
  },
  {
    name: 'repair',
    async prepare(fixture) {
      await after(workedOn, checkpoint)(fixture)
      const [task] = (await readSnapshot(fixture)).open
      rmSync(path.join(task!.path, '.git'))
    },
    act: (ports, dir, signal) => call(ports, 'task.repair', { repo: dir, task: 'T1' }, signal),
    check: mendedOrNot,
  },
  {
    name: 'repair of everything',
    prepare: damaged,
    act: (ports, dir, signal) => repair(ports, dir, {}, signal),
    next: (ports, dir) => repair(ports, dir),
    check: broughtBack,
  },
  {
    name: 'repair --rebuild',
    prepare: withoutRecords,
    act: (ports, dir, signal) => repair(ports, dir, { rebuild: true }, signal),
    next: (ports, dir) => repair(ports, dir, { rebuild: true }),
    check: broughtBack,
  },
  {
    name: 'rewind',
    operation: true,
    writes: 'workspace',
    prepare: workedOn,
    act: (ports, dir, signal) => rewind(ports, dir, signal),
  },
  {
    name: 'undo of rewind',
    operation: true,
    writes: 'workspace',
    prepare: after(workedOn, rewind),
    act: undo,
  },
  {
    name: 'update',
    operation: true,
    writes: 'workspace',
    prepare: workedOn,
    act: (ports, dir, signal) =>
      call(ports, 'task.update', { repo: dir, task: 'T1', onto: 'feature' }, signal),
  },
  {
    name: 'run -- command',
    main: true,
    prepare: workedOn,
    act: (ports, dir, signal) => run(ports, dir, signal),
    check: sweptUp,
  },
  {
    name: 'undo of what strayed in a run',
    operation: true,
    prepare: async (fixture) => {
      await workedOn(fixture)
      await strayed(fixture)
    },
    act: undoStrays,
    back: redo,
  },
  {
    name: 'agents install',
    prepare: async (fixture) => void (await started(fixture)),
    act: (ports, dir, signal) =>
      call(ports, 'task.install', { repo: dir, task: 'T1', agent: 'claude' }, signal),
    check: installedOrNot,
  },
  {
    name: 'accept --as patch',
    main: true,
    operation: true,
    writes: 'checkout',
    prepare: (fixture) => readyToLand(fixture, { shared: true }),
    act: (ports, dir, signal) => accept(ports, dir, { as: 'patch' }, signal),
  },
  ...onBranches.map(
    (as): Journey => ({
      name: `accept --as ${as}`,
      operation: true,
      ...(strategyFacts[as].lands === 'commit' && { writes: 'checkout' }),
      ...(as === 'squash' && { inside: true }),
      prepare: (fixture) => readyToLand(fixture),
      act: (ports, dir, signal) => accept(ports, dir, { as }, signal),
    }),
  ),
  {
    name: 'accept --only',
    operation: true,
    writes: 'checkout',
    prepare: (fixture) => readyToLand(fixture, { shared: true }),
    act: (ports, dir, signal) => accept(ports, dir, { only: ['a.txt', 'new'] }, signal),
  },
  {
    name: 'accept --hunks',
    operation: true,
    writes: 'checkout',
    prepare: (fixture) => readyToLand(fixture, { shared: true }),
    act: acceptHunks,
  },
  {
    name: 'accept --as pr',
    prepare: readyToAsk,
    act: (ports, dir, signal) => accept(ports, dir, { as: 'pr' }, signal),
    again: (ports, dir) => start(ports, dir, { existingBranch: 'offshoot/T1' }),
    check: askedOrNot,
  },
  {
    name: 'reject',
    operation: true,
    prepare: (fixture) => readyToLand(fixture),
    act: (ports, dir, signal) => reject(ports, dir, signal),
  },
  {
    name: 'delete',
    operation: true,
    prepare: (fixture) => readyToLand(fixture),
    act: (ports, dir, signal) => call(ports, 'task.delete', { repo: dir, task: 'T1' }, signal),
  },
  {
    name: 'prune --force',
    env: { OFFSHOOT_PRUNE_MIN_KEEP: '0' },
    operation: true,
    prepare: (fixture) => readyToLand(fixture),
    act: prune,
  },
  {
    name: 'prune of two tasks',
    env: { OFFSHOOT_PRUNE_MIN_KEEP: '0' },
    prepare: twoToPrune,
    act: prune,
    async again(ports, dir) {
      await prune(ports, dir)
      await start(ports, dir)
    },
    check: eachPrunedOrUntouched,
  },
  {
    name: 'undo of prune',
    env: { OFFSHOOT_PRUNE_MIN_KEEP: '0' },
    operation: true,
    prepare: after(readyToLand, prune),
    act: undo,
  },
  {
    name: 'giving up what is idle',
    operation: true,
    prepare: leftInCheckout,
    act: giveUp,
  },
  {
    name: 'undo of accept --as patch',
    operation: true,
    writes: 'checkout',
    prepare: after(
      (fixture) => readyToLand(fixture, { shared: true }),
      (ports, dir) => accept(ports, dir, { as: 'patch' }),
    ),
    act: undo,
  },
  {
    name: 'redo of accept --as patch',
    operation: true,
    writes: 'checkout',
    prepare: after(
      after(
        (fixture) => readyToLand(fixture, { shared: true }),
        (ports, dir) => accept(ports, dir, { as: 'patch' }),
      ),
      undo,
    ),
    act: redo,
  },
  {
    name: 'undo of accept --as squash',
    operation: true,
    writes: 'checkout',
    prepare: after(readyToLand, (ports, dir) => accept(ports, dir, { as: 'squash' })),
    act: undo,
  },
  {
    name: 'undo of reject',
    operation: true,
    prepare: after(readyToLand, reject),
    act: undo,
  },
  {
    name: 'start --isolation branch',
    operation: true,
    writes: 'shadow',
    prepare: nothing,
    act: (ports, dir, signal) => start(ports, dir, { isolation: 'branch' }, signal),
    back: reject,
  },
  {
    name: 'reject of a shadow branch',
    operation: true,
    writes: 'shadow',
    prepare: workedInCheckout,
    act: (ports, dir, signal) => reject(ports, dir, signal),
  },
  {
    name: 'accept of a shadow branch',
    operation: true,
    writes: 'shadow',
    prepare: workedInCheckout,
    act: (ports, dir, signal) => accept(ports, dir, {}, signal),
  },
  {
    name: 'undo of the reject of a shadow branch',
    operation: true,
    writes: 'shadow',
    prepare: after(workedInCheckout, reject),
    act: undo,
  },
]
