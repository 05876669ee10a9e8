import { expect, test } from 'vitest'
import type { Registration } from '../model/git.ts'
import type { Pending, Task } from '../model/task.ts'
import { type Finding, judge } from './judge.ts'
import type { SeenRepo, SeenTask, World } from './scan.ts'

const now = new Date('2026-11-16T00:00:00.000Z')
const record = { id: 'r', name: 'app', commonDir: '/app/.git', mark: 'm', addedAt: '' }
const commit = 'c'.repeat(40)
const uid = (letter: string) => letter.repeat(20)
const owner = { pid: 7, startedAt: '1', boot: 'b' }

function task(letter: string, more: Partial<Task> = {}): Task {
  return {
    uid: uid(letter),
    repo: 'r',
    id: letter.toUpperCase(),
    title: '',
    state: 'active',
    isolation: 'worktree',
    path: `/work/${letter}`,
    branch: `offshoot/${letter}`,
    adopted: false,
    base: { branch: 'main', commit },
    origin: '/app',
    head: commit,
    checkpoints: 1,
    files: 0,
    insertions: 0,
    deletions: 0,
    runs: 0,
    createdAt: '',
    lastActiveAt: '',
    ...more,
  }
}

/** A world in which everything agrees. */
function sound(...tasks: Task[]): { repo: SeenRepo; world: (change?: Partial<World>) => World } {
  const open = tasks.filter(({ state }) => state === 'active')
  const refs = new Map([['refs/offshoot/repo', 'm']])
  for (const { uid, branch } of open) {
    refs.set(`refs/offshoot/base/${uid}`, commit)
    refs.set(`refs/heads/${branch}`, commit)
  }
  const repo: SeenRepo = {
    record,
    isThere: true,
    vault: { state: 'sound', tips: new Map(tasks.map(({ uid }) => [uid, true])) },
    registrations: open.map((one) => registered(one.path, one.uid)),
    refs,
    locks: [],
    known: new Map(tasks.map((one) => [one.uid, one])),
    lost: new Map(),
  }
  const world = (change: Partial<World> = {}): World => ({
    repos: [repo],
    tasks: open.map((one) => seen(one)),
    failed: [],
    unknown: [],
    strays: [],
    now,
    ...change,
  })
  return { repo, world }
}

function registered(path: string, uid?: string, locked?: string): Registration {
  return { name: path.split('/').at(-1) ?? '', path, branch: null, uid, locked }
}

function seen(one: Task, more: Partial<SeenTask> = {}): SeenTask {
  return { task: one, folder: 'there', fault: undefined, isBusy: false, ...more }
}

const verdicts = (findings: Finding[]) =>
  findings.map(({ name, verdict, mend }) => `${name}: ${verdict}${mend ? `, ${mend.do}` : ''}`)

test('R5: where everything agrees there is nothing to say', () => {
  const closed = task('b', { state: 'rejected' })
  expect(judge(sound(task('a'), closed).world())).toEqual([])
})

test.each<[Pending, string]>([
  [{ verb: 'start', owner }, 'roll back'],
  [{ verb: 'recreate', owner }, 'roll back'],
  [{ verb: 'operation', owner, operation: 'o', staged: false }, 'roll back'],
  [{ verb: 'operation', owner, operation: 'o', staged: true }, 'finish'],
  [{ verb: 'publish', owner }, 'finish'],
  [{ verb: 'run', owner, run: 'r' }, 'finish'],
])('R5: what a dead process left in %o comes to: %s', (pending, verdict) => {
  const half = task('a', { pending })
  const { world } = sound(half)
  expect(verdicts(judge(world()))).toEqual([`task A: ${verdict}, settle`])
  // While its process lives it is nobody's business, whatever the rest looks like.
  expect(judge(world({ tasks: [seen(half, { isBusy: true, folder: 'gone' })] }))).toEqual([])
})

test('R5: what is missing of an open task is made again on its next use', () => {
  const one = task('a')
  const { repo, world } = sound(one)
  const of = (change: Partial<SeenTask>, repos = [repo]) =>
    verdicts(judge(world({ repos, tasks: [seen(one, change)] })))
  expect(of({ folder: 'gone' })).toEqual(['task A: recreate on next use, workspace'])
  expect(of({ fault: 'its .git is wrong' })).toEqual(['task A: recreate on next use, workspace'])
  const bare = { ...repo, refs: new Map([['refs/offshoot/repo', 'm']]) }
  expect(of({}, [bare])).toEqual([
    'task A: recreate on next use, pin',
    'task A: recreate on next use, branch',
  ])
  const tipless = { ...repo, vault: { state: 'sound', tips: new Map([[one.uid, false]]) } } as const
  expect(of({}, [tipless])).toEqual(['task A: recreate on next use, steps'])
  // Step 0 is made behind the start: until there is a step it may be missing.
  const early = sound(task('a', { checkpoints: 0 }))
  const seedless = { ...early.repo, vault: { state: 'sound', tips: new Map() } } as const
  expect(judge(early.world({ repos: [seedless] }))).toEqual([])
})

test('R5: a task that only the vault knows is adopted, and its pin and folder are part of it', () => {
  const { repo, world } = sound(task('a'))
  const orphaned = { ...repo, known: new Map() }
  expect(verdicts(judge(world({ repos: [orphaned], tasks: [] })))).toEqual([`task ${uid('a')}: adopt, adopt`])
})

test('R5: only what is left of a closed task of ours may go, and no task of that folder may be open', () => {
  const closed = task('a', { state: 'rejected' })
  const { repo, world } = sound(closed)
  const left = {
    ...repo,
    registrations: [registered(closed.path, closed.uid)],
    refs: new Map([...repo.refs, [`refs/offshoot/base/${closed.uid}`, commit]]),
  }
  const of = (seenRepo: SeenRepo) => verdicts(judge(world({ repos: [seenRepo] })))
  const pin = `pin refs/offshoot/base/${closed.uid}: finish, unpin`
  expect(of(left)).toEqual([pin, 'worktree a: quarantine, quarantine'])
  const again = task('b', { path: closed.path })
  expect(of({ ...left, known: new Map([...left.known, [again.uid, again]]) })).toEqual([
    pin,
    'worktree a: report',
  ])
  expect(of({ ...left, registrations: [registered('/elsewhere', closed.uid)] })).toContain(
    'worktree elsewhere: report',
  )
  const busy = { ...closed, pending: { verb: 'operation', owner, operation: 'o', staged: true } } as const
  expect(of({ ...left, known: new Map([[closed.uid, busy]]) })).toEqual([])
})

test('R5: what others made is reported at most, and has no mend', () => {
  const { repo, world } = sound(task('a'))
  const theirs = {
    ...repo,
    registrations: [
      ...repo.registrations,
      registered('/app/.claude/worktrees/x'),
      registered('/half', undefined, 'initializing'),
      registered('/kept', undefined, 'do not touch'),
      registered('/of-another-home', uid('z')),
    ],
    refs: new Map([...repo.refs, [`refs/offshoot/base/${uid('y')}`, commit]]),
    locks: [
      { name: 'index.lock', since: new Date(now.getTime() - 3_600_000) },
      { name: 'HEAD.lock', since: now },
    ],
  }
  const found = judge(
    world({
      repos: [theirs],
      strays: [
        { repo: 'r1', folder: '/home/workspaces/app/x' },
        { repo: 'r1', folder: '/of-another-home' },
      ],
    }),
  )
  expect(verdicts(found)).toEqual([
    'lock index.lock: report',
    'worktree half: report',
    `pin refs/offshoot/base/${uid('y')}: report`,
    'worktree of-another-home: report',
    'folder x: report',
  ])
  expect(found.filter(({ mend }) => mend !== undefined)).toEqual([])
})

test('R7: each finding says why it matters and what to do', () => {
  const one = task('a')
  const { repo, world } = sound(one)
  const gone = { ...repo, isThere: false, refs: new Map<string, string>(), registrations: [] }
  const vaultless = { ...repo, vault: { state: 'missing', tips: new Map() } } as const
  const headless = { ...repo, vault: { state: 'damaged', tips: new Map() } } as const
  const found = [
    ...judge(world({ repos: [gone], tasks: [seen(one)] })),
    ...judge(world({ repos: [vaultless] })),
    ...judge(world({ repos: [headless] })),
    ...judge(world({ failed: [{ what: 'repository app', why: 'no' }] })),
    ...judge(world({ unknown: [{ name: 'x', repo: record, tasks: 3 }] })),
  ]
  expect(verdicts(found)).toEqual([
    'repository app: report',
    'vault app: report',
    'vault app: recreate on next use, vault',
    'repository app: report',
    'vault x: adopt, adopt',
  ])
  for (const { why, hint } of found) expect([why, hint]).not.toContain('')
})

test('R7: what is to be done in another repository says where', () => {
  const one = task('a')
  const { world } = sound(one)
  const hint = (here?: string) => judge(world({ tasks: [seen(one, { folder: 'gone' })] }), here)[0]?.hint
  expect([hint('r'), hint('another'), hint()]).toEqual([
    'offshoot repair A',
    'offshoot repair A -C /app',
    'offshoot repair A -C /app',
  ])
})
