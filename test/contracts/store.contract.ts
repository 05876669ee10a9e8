import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, type TestContext } from 'vitest'
import { flawsOf } from '../../src/core/model/seal.ts'
import type { Change } from '../../src/core/model/change.ts'
import type { Notes, RepoRecords, Store, Stores } from '../../src/core/ports/store.ts'
import { adopt, append, appendAll, mendRecords, type Writer } from '../../src/core/tasks/records.ts'
import type { Task } from '../../src/core/model/task.ts'
import { runProgram } from '../support/processes.ts'

export interface StoreUnderTest {
  readonly name: string
  readonly open: (path: string) => Stores
  /** The module and its export that open the same store in another process; a store that is in one process has none. */
  readonly elsewhere?: { readonly module: URL; readonly factory: string }
}

const at = '2026-11-15T18:01:02.000Z'
const owner = { pid: 1, startedAt: '1', boot: 'b' }
const writing = new URL('./store.writer.ts', import.meta.url)

export const sampleRepo = {
  id: 'repo1',
  name: 'app',
  commonDir: '/app/.git',
  mark: 'a'.repeat(40),
  addedAt: at,
}

function sampleTask(uid: string, id: string, more: Partial<Task> = {}): Task {
  return {
    uid,
    id,
    repo: sampleRepo.id,
    title: id,
    state: 'pending',
    isolation: 'worktree',
    path: `/work/${uid}`,
    branch: `offshoot/${id}`,
    adopted: false,
    base: { branch: 'main', commit: 'c'.repeat(40) },
    origin: '/app',
    head: 'c'.repeat(40),
    checkpoints: 0,
    files: 0,
    insertions: 0,
    deletions: 0,
    runs: 0,
    createdAt: at,
    lastActiveAt: at,
    ...more,
  }
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** What every store must do. */
export function storeContract({ name, open, elsewhere }: StoreUnderTest): void {
  describe(`${name} as a store`, () => {
    let folder: string
    let file: string
    let opened: Stores
    let [store, repos, notes]: [Store, RepoRecords, Notes] = [] as never
    let writer: Writer

    function reach(): void {
      opened = open(file)
      ;({ store, repos, notes } = opened)
      writer = { store, processes: { self: () => owner } }
    }
    async function reopen(): Promise<void> {
      await opened.close()
      reach()
    }

    beforeEach(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'offshoot-store-'))
      file = path.join(folder, 'home', 'state.db')
      reach()
      await repos.put(sampleRepo)
    })
    afterEach(async () => {
      await opened.close()
      rmSync(folder, { recursive: true })
    })

    const begin = (uid: string, id: string, more?: Partial<Task>) =>
      append(writer, uid, { type: 'start.begun', task: sampleTask(uid, id, more), owner }, at, 0)
    const start = async (uid: string, id: string, more?: Partial<Task>) => {
      await begin(uid, id, more)
      return append(writer, uid, { type: 'start.done' }, at, 1)
    }
    const finish = async (uid: string) => {
      await append(writer, uid, { type: 'operation.begun', id: 'op', verb: 'remove', owner }, at)
      return append(
        writer,
        uid,
        { type: 'operation.done', id: 'op', patch: { state: 'rejected', trash: '/trash' }, left: [] },
        at,
      )
    }
    const uids = (tasks: Task[]) => tasks.map((task) => task.uid)
    const needsProcesses = ({ skip }: TestContext) =>
      skip(elsewhere === undefined, 'it needs a store that several processes can open')
    const write = (where: string, ...args: string[]) =>
      runProgram(writing, elsewhere!.module.href, elsewhere!.factory, where, ...args)

    test('events come back in the order in which they were appended, counted per task and overall', async () => {
      await begin('u1', 'A')
      await begin('u2', 'B')
      await append(writer, 'u1', { type: 'start.done' }, at)

      const events = await store.readEvents({})
      expect(events.map(({ uid, n, event }) => `${uid} ${n} ${event.type}`)).toEqual([
        'u1 1 start.begun',
        'u2 1 start.begun',
        'u1 2 start.done',
      ])
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3])
      expect((await store.readEvents({ uid: 'u1' })).map(({ n }) => n)).toEqual([1, 2])
    })

    test('a reader that knows the last seq gets what came after it, and no more than it asked for', async () => {
      await begin('u1', 'A')
      const [first] = await store.readEvents({})
      await start('u2', 'B')
      expect((await store.readEvents({ after: first!.seq })).map(({ uid }) => uid)).toEqual(['u2', 'u2'])
      expect(await store.readEvents({ after: first!.seq, limit: 1 })).toHaveLength(1)
      expect(await store.readEvents({ after: 3 })).toEqual([])
    })

    test('the task is what its events make of it, for this and for the next process', async () => {
      const task = await start('u1', 'A', { agent: 'claude' })
      expect(task).toMatchObject({ state: 'active', agent: 'claude' })
      expect(task).not.toHaveProperty('pending')
      await reopen()
      expect(await store.findTaskByUid('u1')).toEqual(task)
    })

    test('S2: a writer who has not seen the last event is refused, and nothing is written', async () => {
      const task = await start('u1', 'A')
      const stale = () => append(writer, 'u1', { type: 'recreate.begun', owner }, at, 1)
      await expect(stale()).rejects.toThrow(
        expect.objectContaining({ code: 'WT_012', data: { expected: 1, version: 2 } }),
      )
      expect(await store.findTaskByUid('u1')).toEqual(task)
      expect(await store.readEvents({})).toHaveLength(2)
    })

    test('an event for a task that never began is refused, and nothing is written', async () => {
      await expect(append(writer, 'u9', { type: 'start.done' }, at)).rejects.toThrow(
        expect.objectContaining({ code: 'WT_007' }),
      )
      expect(await store.readEvents({})).toEqual([])
    })

    test('L2: the id of an open task is taken, in its repository only', async () => {
      await start('u1', 'TASK-1')
      await expect(begin('u2', 'TASK-1')).rejects.toThrow(
        expect.objectContaining({ code: 'WT_013', message: 'A task with the id TASK-1 is open already.' }),
      )
      expect(await store.findTaskByUid('u2')).toBeUndefined()
      expect(await store.readEvents({ uid: 'u2' })).toEqual([])

      await repos.put({ ...sampleRepo, id: 'repo2', commonDir: '/other/.git' })
      expect(await begin('u3', 'TASK-1', { repo: 'repo2' })).toMatchObject({ repo: 'repo2' })
    })

    test('L2: an id that differs in upper and lower case only is taken as well, and the message says so', async () => {
      await start('u1', 'TASK-1')
      await expect(begin('u2', 'task-1')).rejects.toThrow(
        expect.objectContaining({
          code: 'WT_013',
          message: 'The open task TASK-1 differs from task-1 in upper and lower case only.',
        }),
      )
      expect(await store.findOpenTask(sampleRepo.id, 'task-1')).toBeUndefined()
      expect(await store.findOpenTask(sampleRepo.id, 'TASK-1')).toMatchObject({ uid: 'u1' })
    })

    test('L2: the id of a closed task recurs, and the newest answers to it', async () => {
      await start('u1', 'A', { path: '/work/a' })
      expect(await finish('u1')).toMatchObject({ state: 'rejected', trash: '/trash' })
      expect(await store.findOpenTask(sampleRepo.id, 'A')).toBeUndefined()
      expect(await store.findTask(sampleRepo.id, 'A')).toMatchObject({ uid: 'u1' })

      await start('u2', 'A', { path: '/work/a' })
      expect(await store.findTask(sampleRepo.id, 'A')).toMatchObject({ uid: 'u2' })
      expect(await store.findTaskByPath('/work/a')).toMatchObject({ uid: 'u2' })
      expect(await store.findTaskByUid('u1')).toMatchObject({ state: 'rejected' })
    })

    test('L2: an open task answers to its id, also when a closed one of that id is newer', async () => {
      await start('u1', 'A')
      await finish('u1')
      await start('u2', 'A', { createdAt: '2027-01-01T00:00:00.000Z' })
      await finish('u2')
      expect(await store.findTask(sampleRepo.id, 'A')).toMatchObject({ uid: 'u2' })
      const back = { state: 'active', closedAt: null, trash: null } as const
      await append(writer, 'u1', { type: 'operation.begun', id: 'undo', verb: 'undo', owner }, at)
      await append(writer, 'u1', { type: 'operation.done', id: 'undo', patch: back, left: [] }, at)
      expect(await store.findTask(sampleRepo.id, 'A')).toMatchObject({ uid: 'u1', state: 'active' })
    })

    test('a start that was rolled back is known by its uid alone, and leaves its id free', async () => {
      await begin('u1', 'A')
      await append(writer, 'u1', { type: 'start.undone', reason: 'killed' }, at)
      expect(await store.findTaskByUid('u1')).toMatchObject({ hidden: true })
      expect(await store.findTask(sampleRepo.id, 'A')).toBeUndefined()
      expect(await store.findTaskByPath('/work/u1')).toBeUndefined()
      expect(await store.readTasks({})).toEqual([])
      expect(await start('u2', 'A')).toMatchObject({ state: 'active' })
    })

    test('tasks are read newest first, those of the same moment by the order of their start', async () => {
      await start('u1', 'A')
      await start('u2', 'B', { createdAt: '2026-11-14T00:00:00.000Z' })
      await start('u3', 'C')
      await finish('u3')
      expect(uids(await store.readTasks({}))).toEqual(['u3', 'u1', 'u2'])
      expect(uids(await store.readTasks({ repo: sampleRepo.id, open: true }))).toEqual(['u1', 'u2'])
      expect(uids(await store.readTasks({ open: false }))).toEqual(['u3'])
      expect(uids(await store.readTasks({ limit: 1 }))).toEqual(['u3'])
      expect(await store.readTasks({ repo: 'other' })).toEqual([])
      expect(await store.countOpenTasks(sampleRepo.id)).toBe(2)
    })

    test('R3: open tasks that idle alike are told together, with the time of the one longest unused', async () => {
      const minute = (n: number) => `2026-11-15T10:0${n}:00.000Z`
      await begin('u1', 'A', { origin: '/app', lastActiveAt: minute(2) })
      await begin('u2', 'B', { origin: '/app', lastActiveAt: minute(1) })
      await begin('u3', 'C', { origin: '/other', lastActiveAt: minute(3) })
      await begin('u4', 'D', {
        origin: '/app',
        lastActiveAt: minute(4),
        shadow: { gitDir: '/app/.git', operation: 'op' },
      })
      await begin('u5', 'E', { origin: '/app', lastActiveAt: minute(5) })
      const ended = { type: 'run.ended', run: 'r', ok: false, reason: 'no', trigger: 'failure' } as const
      await append(writer, 'u5', ended, minute(6))
      await begin('u6', 'F', { origin: '/closed', lastActiveAt: minute(0) })
      await finish('u6')
      const repo = sampleRepo.id
      expect(await store.readIdling()).toEqual([
        { repo, origin: '/app', shadow: false, lastActiveAt: minute(1) },
        { repo, origin: '/app', shadow: true, lastActiveAt: minute(4) },
        { repo, origin: '/app', trigger: 'failure', shadow: false, lastActiveAt: minute(6) },
        { repo, origin: '/other', shadow: false, lastActiveAt: minute(3) },
      ])
    })

    test('tasks in the middle of a verb are found without looking at the others', async () => {
      await start('u1', 'A')
      await begin('u2', 'B')
      await append(writer, 'u1', { type: 'operation.begun', id: 'op', verb: 'remove', owner }, at)
      expect(uids(await store.readPendingTasks())).toEqual(['u1', 'u2'])
      await append(writer, 'u1', { type: 'operation.undone', id: 'op', reason: 'no', patch: {} }, at)
      expect(uids(await store.readPendingTasks())).toEqual(['u2'])
    })

    test('a repository keeps its record when it moves, and one made anew in its place comes first', async () => {
      await repos.put({ ...sampleRepo, commonDir: '/moved/.git' })
      expect(await repos.findAt('/app/.git')).toBeUndefined()
      expect(await repos.findById('repo1')).toEqual({ ...sampleRepo, commonDir: '/moved/.git' })
      const anew = { ...sampleRepo, id: 'repo2', commonDir: '/moved/.git' }
      await repos.put(anew)
      expect(await repos.findAt('/moved/.git')).toEqual(anew)
      expect((await repos.readAll()).map(({ id }) => id)).toEqual(['repo1', 'repo2'])
    })

    test('a note is what was put last', async () => {
      expect(await notes.find('k')).toBeUndefined()
      await notes.put('k', '1')
      await notes.put('k', '2')
      await notes.put('key', '3')
      await notes.put('kept', '')
      await notes.put('l', '4')
      expect(await notes.readBelow('k')).toEqual(
        new Map([
          ['k', '2'],
          ['key', '3'],
        ]),
      )
      expect(await notes.find('k')).toBe('2')
    })

    test('S2: processes that write to the same and to different tasks at once lose nothing', async (context) => {
      needsProcesses(context)
      await start('shared', 'S')
      await start('own1', 'A')
      await start('own2', 'B')
      const writers = ['own1', 'own2'].map((own) => write(file, '100', 'shared', own))
      const printed = await Promise.all(writers.map((program) => program.rest()))

      const numbers = async (uid: string) => (await store.readEvents({ uid })).map(({ n }) => n)
      const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
      expect(await numbers('shared')).toEqual(upTo(2 + 200))
      expect(await numbers('own1')).toEqual(upTo(2 + 100))
      expect(await numbers('own2')).toEqual(upTo(2 + 100))
      const acknowledged = printed.flat().filter((line) => line.startsWith('shared '))
      expect(new Set(acknowledged).size).toBe(200)
      expect((await flawsOf(store.readLog(), await store.readPosition())).flaws).toEqual([])
    })

    const position = async (...uids: string[]) => {
      const { seq, seal, versions } = await store.readPosition(uids)
      return { after: { seq, seal }, versions }
    }
    const flaws = async () => (await flawsOf(store.readLog(), await store.readPosition())).flaws

    test('the position is the last entry and the versions of the tasks that were asked for, or of all', async () => {
      expect(await store.readPosition()).toEqual({ seq: 0, seal: '', versions: new Map() })
      await start('u1', 'A')
      await begin('u2', 'B')
      const [, , last] = await collected(store.readLog())
      const versions = new Map([
        ['u1', 2],
        ['u2', 1],
      ])
      expect(await store.readPosition()).toEqual({ seq: 3, seal: last!.seal, versions })
      expect((await store.readPosition(['u2', 'nobody'])).versions).toEqual(new Map([['u2', 1]]))
    })

    test('S2: a change is stale when the log has moved on, when its seal is another, or when the task has', async () => {
      const task = await start('u1', 'A')
      const { after } = await position()
      const entry = {
        uid: 'u1',
        n: 3,
        at,
        type: 'recreate.done',
        text: '{"type":"recreate.done"}',
        seal: 's',
      }
      const change: Change = { after, entries: [entry], tasks: [{ task, from: 2, to: 3 }] }
      await begin('u2', 'B')
      expect(await store.append(change)).toBe('stale')
      const { after: now } = await position()
      expect(await store.append({ ...change, after: { ...now, seal: after.seal } })).toBe('stale')
      expect(await store.append({ ...change, after: { ...now, seq: after.seq } })).toBe('stale')
      for (const from of [0, 1, 3]) {
        expect(await store.append({ ...change, after: now, tasks: [{ task, from, to: 3 }] })).toBe('stale')
      }
      expect(await store.readEvents({})).toHaveLength(3)
      expect(await position('u1')).toEqual({ after: now, versions: new Map([['u1', 2]]) })
      expect(await store.append({ ...change, after: now })).toBe('done')
      expect(await position('u1')).toEqual({ after: { seq: 4, seal: 's' }, versions: new Map([['u1', 3]]) })
    })

    test('S2: of a change that cannot be written whole nothing is written', async () => {
      await start('u1', 'A')
      const { after } = await position()
      const tasks = [sampleTask('u2', 'B'), sampleTask('u3', 'a')].map((task) => ({ task, from: 0, to: 1 }))
      const entries = tasks.map(({ task: { uid } }) => ({ uid, n: 1, at, type: 'x', text: '{}', seal: uid }))
      expect(await store.append({ after, entries, tasks })).toBe('taken')
      expect(await store.findTaskByUid('u2')).toBeUndefined()
      expect((await position('u1')).after).toEqual(after)
      expect(await store.readEvents({})).toHaveLength(2)
    })

    test('S2: writers at once in one process lose nothing, and of those who expect the same version one wins', async () => {
      await start('u1', 'A')
      await start('u2', 'B')
      const tell = (n: number) => append(writer, n % 2 === 0 ? 'u1' : 'u2', { type: 'recreate.done' }, at)
      await Promise.all(Array.from({ length: 40 }, (_, n) => tell(n)))
      const events = await store.readEvents({})
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      for (const uid of ['u1', 'u2'])
        expect((await store.readEvents({ uid })).map(({ n }) => n)).toEqual(
          Array.from({ length: 22 }, (_, index) => index + 1),
        )
      expect(await flaws()).toEqual([])

      const rivals = Array.from({ length: 10 }, () =>
        append(writer, 'u1', { type: 'recreate.done' }, at, 22).then(
          () => 'won',
          (thrown: unknown) => (thrown as { code?: string }).code,
        ),
      )
      const ends = await Promise.all(rivals)
      expect(ends.filter((end) => end === 'won')).toHaveLength(1)
      expect(ends.filter((end) => end === 'WT_012')).toHaveLength(9)
      expect(await store.readEvents({ uid: 'u1' })).toHaveLength(23)
    })

    test('an id changes hands within one change, whichever of both is told of first', async () => {
      await start('u1', 'A')
      await start('u2', 'B')
      await finish('u1')
      await begin('u3', 'A')
      const undone = { type: 'start.undone', reason: 'no' } as const
      const back = { type: 'operation.done', id: 'op', patch: { state: 'active' }, left: [] } as const
      const begun = { type: 'operation.begun', id: 'op', verb: 'undo', owner } as const
      await appendAll(
        writer,
        [
          { uid: 'u1', event: begun },
          { uid: 'u3', event: undone },
          { uid: 'u1', event: back },
        ],
        at,
      )
      expect(await store.findOpenTask(sampleRepo.id, 'A')).toMatchObject({ uid: 'u1', state: 'active' })
      expect(await flaws()).toEqual([])
    })

    test('S2: a reader that follows while others write gets every entry once, in order', async (context) => {
      needsProcesses(context)
      await start('shared', 'S')
      await start('own1', 'A')
      await start('own2', 'B')
      const programs = ['own1', 'own2', 'shared'].map((own) => write(file, '60', 'shared', own))
      const ended = Promise.all(programs.map((program) => program.rest()))
      const all = 6 + 3 * 2 * 60
      const seen: number[] = []
      const perTask = new Map<string, number[]>()
      while (seen.length < all) {
        const events = await store.readEvents({ after: seen.at(-1) ?? 0, limit: 7 })
        for (const { seq, uid, n } of events) {
          seen.push(seq)
          perTask.set(uid, [...(perTask.get(uid) ?? []), n])
        }
        // The writers end by themselves: should one entry be missed, the numbers show it rather than a wait without end.
        if (events.length === 0 && programs.every(({ child }) => child.exitCode !== null)) break
        await new Promise((resolve) => setImmediate(resolve))
      }
      await ended
      expect(seen).toEqual(Array.from({ length: all }, (_, index) => index + 1))
      for (const numbers of perTask.values()) expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    })

    test('a sound store has no fault, and there is nothing to mend', async () => {
      await start('u1', 'A')
      expect(await store.inspect()).toEqual([])
      expect(await mendRecords(writer)).toEqual([])
    })

    test('R9: each entry of the log seals those before it, whoever wrote them', async () => {
      await start('u1', 'A')
      await finish('u1')
      await reopen()
      await start('u2', 'B')
      const log = await collected(store.readLog())
      expect(log.map(({ uid, n, type }) => `${uid} ${n} ${type}`)).toHaveLength(6)
      expect(new Set(log.map(({ seal }) => seal)).size).toBe(6)
      const { flaws, head } = await flawsOf(log, await store.readPosition())
      expect([flaws, head]).toEqual([[], log[5]?.seal])
    })

    test('R9: no event is stored with what looks like a secret, by whichever way it comes, and its paths stay as they are', async () => {
      const said = 'cannot fetch https://bob:s3cr3tpw@host/x'
      const safe = 'cannot fetch https://bob:***@host/x'
      const task = sampleTask('u1', 'A', { title: 'Use API_KEY=s3cr3tpw', path: '/work/token=x1' })
      await append(writer, 'u1', { type: 'start.begun', task, owner }, at)
      await appendAll(writer, [{ uid: 'u1', event: { type: 'publish.undone', reason: said } }], at)
      const undone = { type: 'start.undone', reason: said } as const
      await adopt(writer, [
        { uid: 'u2', event: { type: 'start.begun', task: { ...task, uid: 'u2', id: 'B' }, owner }, at },
        { uid: 'u2', event: undone, at },
      ])
      expect(JSON.stringify(await collected(store.readLog()))).not.toContain('s3cr3tpw')
      expect(await store.findTaskByUid('u1')).toMatchObject({
        title: 'Use API_KEY=***',
        path: '/work/token=x1',
        unpublished: safe,
      })
      expect(await store.findTaskByUid('u2')).toMatchObject({ reason: safe })
      expect((await flawsOf(store.readLog(), await store.readPosition())).flaws).toEqual([])
    })

    test('R7: a lost log comes back whole, or not at all', async () => {
      const logOf = (uid: string) => [
        { uid, event: { type: 'start.begun', task: sampleTask(uid, 'A'), owner } as const, at },
        { uid, event: { type: 'start.done' } as const, at },
        { uid, event: { type: 'rebuilt' } as const, at },
      ]
      await adopt(writer, logOf('u1'))
      expect(await store.findTaskByUid('u1')).toMatchObject({ uid: 'u1', state: 'active' })
      expect(await store.readEvents({ uid: 'u1' })).toHaveLength(3)
      await expect(adopt(writer, logOf('u1'))).rejects.toThrow(expect.objectContaining({ code: 'WT_012' }))
      await expect(adopt(writer, logOf('u2'))).rejects.toThrow(expect.objectContaining({ code: 'WT_013' }))
      expect(await store.findTaskByUid('u2')).toBeUndefined()
      expect(await store.readEvents({})).toHaveLength(3)
    })

    test('P2: what was acknowledged is there after the writer was killed', async (context) => {
      needsProcesses(context)
      await start('own', 'A')
      const program = write(file, '1000000', 'own')
      let last = ''
      for (let n = 0; n < 60; n++) last = await program.line()
      await program.kill()

      await reopen()
      const events = await store.readEvents({ uid: 'own' })
      expect(events.length).toBeGreaterThanOrEqual(Number(last.split(' ')[1]))
      expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1))
      expect(await append(writer, 'own', { type: 'recreate.done' }, at, events.length)).toMatchObject({
        uid: 'own',
      })
    })

    test('S2: 20 processes that open a new store at once all get it', async (context) => {
      needsProcesses(context)
      const fresh = path.join(folder, 'fresh', 'state.db')
      const openers = Array.from({ length: 20 }, () => write(fresh, '0'))
      await Promise.all(openers.map((program) => program.rest()))
      const opened = open(fresh)
      expect(await opened.store.readTasks({})).toEqual([])
      await opened.close()
    })
  })
}
