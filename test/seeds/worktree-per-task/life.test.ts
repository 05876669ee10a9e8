/** A worktree for each task, under the ids by which it was asked for: the life of a worktree. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { compose } from '../../../src/compose/full.ts'
import { openAround } from '../../support/open-around.ts'
import { atEffect } from '../../support/at-effect.ts'
import { withFault } from '../../support/faults.ts'
import { killWhen } from '../../support/kill-when.ts'
import { leftBehind, madeByHand } from '../../support/left-behind.ts'
import { offshoot, quickFolder, testRepo } from '../../support/repo.ts'
import { branches, copyOf, library, linkedWorktrees, once } from '../../support/workspace.ts'
import { appendAll } from '../../../src/core/tasks/records.ts'
import { old, all, ids, type Told, refused, everything, nothing, complaints } from './shared.ts'

describe('the life of a worktree', () => {
  test('FR-021: a task that asks for isolation gets a worktree, and its command runs there', async () => {
    const repo = testRepo()
    const command = ['sh', '-c', 'pwd > where']
    const { task } = await library(repo).run({ task: 'T1', create: true, command })
    expect(readFileSync(path.join(task.path, 'where'), 'utf8')).toBe(`${task.path}\n`)
    expect(linkedWorktrees(repo)).toMatchObject([{ path: task.path, branch: 'offshoot/T1' }])
    expect(existsSync(path.join(repo.dir, 'where'))).toBe(false)
  })
  test('FR-020: the time of its last use moves on with each step, that of its making does not', async () => {
    const lib = library(testRepo())
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await lib.checkpoint({ task: 'T1' })
    const used = await lib.find('T1')
    expect(Date.parse(used!.lastActiveAt)).toBeGreaterThan(Date.parse(task.lastActiveAt))
    expect(used!.createdAt).toBe(task.createdAt)
  })
  test('IT-005: the list is that of git worktree list, with the checkout, those of others, and ours', async () => {
    const repo = testRepo()
    const lib = library(repo)
    for (const task of ['T1', 'T2', 'T3']) await lib.start({ task })
    await lib.remove({ task: 'T2' })
    repo.git('worktree', 'add', '--quiet', '-b', 'theirs', path.join(repo.home, 'theirs'))
    repo.git('worktree', 'add', '--quiet', '--detach', path.join(repo.home, 'detached'))
    const listed = await lib.worktrees()
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path)
    const known = listed.filter(({ isMain }) => !isMain)
    expect(known.map(({ path: at, branch, head }) => ({ path: at, branch, head })).toSorted(byPath)).toEqual(
      linkedWorktrees(repo)
        .map(({ branch = null, ...rest }) => ({ ...rest, branch }))
        .toSorted(byPath),
    )
    const head = repo.git('rev-parse', 'HEAD').trim()
    const main = {
      path: repo.dir,
      branch: 'main',
      head,
      isMain: true,
      isOrphan: false,
      task: null,
      state: null,
    }
    expect(listed[0]).toEqual(main)
    expect(new Set(known.map(({ task, state, isOrphan }) => `${task} ${state} ${isOrphan}`))).toEqual(
      new Set(['T1 active false', 'T3 active false', 'null null false']),
    )
    const orphan = await leftBehind(repo, lib, 'T4')
    expect((await lib.worktrees()).find(({ path: at }) => at === orphan.path)).toMatchObject({
      isOrphan: true,
      task: null,
    })
  })
  test('IT-001: it is made in a real repository, on a new branch', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1', branch: 'feature/my-feature' })
    expect(linkedWorktrees(repo)).toMatchObject([{ path: task.path, branch: 'feature/my-feature' }])
  })
  test('IT-002: it is made from a branch that is there, which neither work nor removal moves or deletes', async () => {
    const repo = testRepo()
    repo.git('branch', 'there')
    const tip = repo.git('rev-parse', 'there')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1', existingBranch: 'there' })
    expect(linkedWorktrees(repo)).toMatchObject([{ branch: 'there' }])
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await lib.checkpoint({ task: 'T1' })
    await lib.remove({ task: 'T1', force: true })
    expect([linkedWorktrees(repo), repo.git('rev-parse', 'there')]).toEqual([[], tip])
  })
  test('FR-003, AC-003, IT-003, FR-036, FR-037: removal takes folder, branch and record', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    await lib.remove({ path: task.path })
    expect([existsSync(task.path), branches(repo), linkedWorktrees(repo), await lib.exists('T1')]).toEqual([
      false,
      ['main'],
      [],
      false,
    ])
  })
  test('IT-004: removal keeps the branch on request, and nothing else', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    await lib.remove({ task: 'T1', keepBranch: true })
    expect(branches(repo)).toEqual(['main', 'offshoot/T1'])
    expect([existsSync(task.path), linkedWorktrees(repo), await lib.exists('T1')]).toEqual([false, [], false])
  })
  test.each(['the setting', 'the option'])('IT-004: prune keeps branches if %s says so', async (how) => {
    const repo = testRepo()
    const keepBranches = true
    const lib = library(repo, {
      flags: { prune: { ...all.prune, ...(how === 'the setting' && { keepBranches }) } },
    })
    await lib.start({ task: 'T1' })
    const pruned = await lib.prune({ ...old, ...(how === 'the option' && { keepBranches }) })
    expect(pruned.removed).toMatchObject([{ task: { id: 'T1', state: 'kept', closedBy: 'prune' } }])
    expect([branches(repo), linkedWorktrees(repo)]).toEqual([['main', 'offshoot/T1'], []])
    await lib.start({ task: 'T2' })
    expect(ids((await library(repo, { flags: all }).prune(old)).removed)).toEqual(['T2'])
    expect(branches(repo)).toEqual(['main', 'offshoot/T1'])
  })
  test('NFR-022: removal a second time does nothing', async () => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1' })
    expect((await lib.remove({ task: 'T1' })).removed).toBe(true)
    expect((await lib.remove({ task: 'T1' })).removed).toBe(false)
  })
  test('FR-033, FR-034, AC-023: uncommitted changes are found, told, and not lost', async () => {
    const lib = library(testRepo(), { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await refused(lib.remove({ task: 'T1' }), 'WT_004')
    const { removed, warnings } = await lib.prune(old)
    expect([removed, warnings]).toEqual([[], [expect.stringContaining('T1 stays')]])
    expect(readFileSync(path.join(task.path, 'new.txt'), 'utf8')).toBe('new\n')
  })
  test('FR-035, AC-024: it can be forced, and even then comes back', async () => {
    const lib = library(testRepo(), { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    expect(ids((await lib.prune({ ...old, force: true })).removed)).toEqual(['T1'])
    await lib.undo()
    expect(readFileSync(path.join(task.path, 'new.txt'), 'utf8')).toBe('new\n')
  })
  test('FR-029, NFR-009, NFR-021: a creation that fails, whatever it is that fails, leaves no part of it', async () => {
    const template = testRepo()
    const outcomes = []
    for (let n = 1; ; n++) {
      const repo = copyOf(template)
      const fault = withFault({ kind: 'eio', at: n, when: 'before' })
      const lib = openAround(repo.dir, { env: repo.env, around: fault.around })
      const code: string = await lib.start({ task: 'T1' }).then(
        () => 'made',
        (error: Told) => error.code,
      )
      await lib.close()
      if (!fault.hit) break
      const left = await everything(repo)
      const { reused } = await once(repo, (again) => again.start({ task: 'T1' }))
      outcomes.push({ n, at: fault.points.at(n - 1), code, left, reused })
    }
    const failed = outcomes.filter(({ code }) => code !== 'made')
    expect(failed).toEqual(
      failed.map(({ n, at }) => ({ n, at, code: 'WT_020', left: nothing, reused: false })),
    )
    expect(failed.length).toBeGreaterThan(8)
    // What nobody waits for is done again by whoever needs it: the task is there, and whole.
    const made = outcomes.filter(({ code }) => code === 'made')
    expect(made.filter(({ reused, left }) => !reused || left.worktrees.length !== 1)).toEqual([])
  })
  test('NFR-009: a removal that fails, whatever it is that fails, is whole or never was after the next command', async () => {
    const hit = []
    for (let n = 1; ; n++) {
      const repo = testRepo(undefined, quickFolder())
      const { task } = await once(repo, (lib) => lib.start({ task: 'T1' }))
      const before = await everything(repo)
      const fault = withFault({ kind: 'eio', at: n, when: 'before' })
      const lib = openAround(repo.dir, { env: repo.env, around: fault.around })
      const code: string = await lib.remove({ task: 'T1' }).then(
        () => 'removed',
        (error: Told) => error.code,
      )
      await lib.close()
      if (!fault.hit) break
      await once(repo, (next) => next.recover())
      const after = await everything(repo)
      expect([before, nothing], `${n} ${fault.points.at(n - 1)}`).toContainEqual(after)
      if (code === 'removed') expect(after).toEqual(nothing)
      if (after.tasks.length > 0) {
        expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
        expect((await once(repo, (next) => next.remove({ task: 'T1' }))).removed).toBe(true)
      }
      hit.push(code)
    }
    expect(hit.filter((code) => code !== 'removed').length).toBeGreaterThan(4)
  })
  test.each(['remove', 'prune'] as const)(
    'FR-008: a %s that is cancelled, wherever it is, leaves nothing partial',
    async (verb) => {
      const ended = []
      for (let n = 1; ; n++) {
        const repo = testRepo(undefined, quickFolder())
        const { task } = await once(repo, (lib) => lib.start({ task: 'T1' }))
        // A prune with force takes a step first.
        if (verb === 'prune') writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
        const before = await everything(repo)
        const cancel = new AbortController()
        const { around, reached } = atEffect(n, () => cancel.abort())
        const lib = openAround(repo.dir, { env: repo.env, around, flags: all })
        const work =
          verb === 'remove'
            ? lib.remove({ task: 'T1' }, { signal: cancel.signal })
            : lib.prune({ ...old, force: true }, { signal: cancel.signal })
        const code: string = await work.then(
          () => 'done',
          (error: Told) => error.code,
        )
        await lib.close()
        if (!reached()) break
        expect(code).toMatch(/^(done|WT_021)$/)
        expect(await everything(repo), `${n}`).toEqual(code === 'done' ? nothing : before)
        if (code !== 'done') expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
        ended.push(code)
      }
      expect(ended).toContain('WT_021')
    },
  )
  test('FR-030, FR-032: a run that completes cleans up at once, if that is asked for', async () => {
    const repo = testRepo()
    const command = ['sh', '-c', 'echo b > b.txt']
    const kept = await library(repo).run({ task: 'T1', create: true, command })
    expect(existsSync(kept.task.path)).toBe(true)
    const lib = library(repo, { flags: { prune: { cleanupOnComplete: true } } })
    const gone = await lib.run({ task: 'T2', create: true, command })
    expect([existsSync(gone.task.path), repo.git('show', 'offshoot/T2:b.txt')]).toEqual([false, 'b\n'])
  })
  test('NFR-023: after a crash in the middle of a creation the next command puts everything right', async () => {
    const files = Array.from({ length: 1500 }, (_, n) => [`folder-${n % 30}/file-${n}`, `${n}\n`])
    const repo = testRepo(Object.fromEntries(files))
    const registered = path.join(repo.dir, '.git/worktrees')
    const shows = () => existsSync(registered) && readdirSync(registered).length > 0
    await killWhen(repo, ['start', 'T1'], shows)
    expect(shows()).toBe(true)
    const { code, json } = await offshoot(repo, 'start', 'T2', '--json')
    expect(code).toBe(0)
    expect(await everything(repo)).toEqual({
      worktrees: [json.task.path],
      branches: ['offshoot/T2'],
      refs: [expect.stringMatching(/^refs\/offshoot\/base\/\w+$/)],
      folders: [json.task.path],
      tasks: ['T2'],
    })
    expect((await offshoot(repo, 'start', 'T1', '--json')).json.reused).toBe(false)
  })
  test('NFR-013, NFR-025: every event of a life is in the log, when it was and which commit, and the log is sealed', async () => {
    const lib = library(testRepo())
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await lib.checkpoint({ task: 'T1', tool: 'Edit', summary: 'new.txt' })
    await lib.run({ task: 'T1', create: false, command: ['sh', '-c', 'echo b > b.txt'] })
    await lib.reject({ task: 'T1' })
    await lib.undo()
    await lib.accept({ task: 'T1' })
    const { task: second } = await lib.start({ task: 'T2' })
    await lib.remove({ task: 'T2' })
    const told = await lib.audit()
    const plain = (detail: string) => detail.replace(/\b[0-9a-v]{20}\b/, 'ID')
    expect(told.map((entry) => `${entry.task} ${entry.what} ${plain(entry.detail)}`.trimEnd())).toEqual([
      `T1 start.begun worktree ${task.path}, branch offshoot/T1`,
      'T1 start.done',
      'T1 checkpoint step 1: Edit - new.txt',
      'T1 publish.begun',
      'T1 publish.done branch offshoot/T1',
      'T1 ports.given',
      'T1 run.begun run ID',
      'T1 checkpoint step 2: command - sh -c echo b > b.txt',
      'T1 run.ended run ID',
      'T1 publish.begun',
      'T1 publish.done branch offshoot/T1',
      'T1 operation.begun reject',
      'T1 operation.staged',
      'T1 operation.done',
      'T1 operation.begun undo of ID',
      'T1 operation.staged',
      'T1 operation.done',
      'T1 operation.begun accept',
      'T1 operation.staged',
      'T1 operation.done',
      `T2 start.begun worktree ${second.path}, branch offshoot/T2`,
      'T2 start.done',
      'T2 operation.begun remove',
      'T2 operation.staged',
      'T2 operation.done',
    ])
    for (const { at } of told) expect(new Date(at).toISOString()).toBe(at)
    for (const { what, commit } of told)
      if (/^(checkpoint|start\.begun|publish\.done)$/.test(what)) expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect(await lib.verifyAudit()).toMatchObject({ entries: told.length, flaws: [] })
  })
  test('NFR-024: of a record and its event both are written, or neither', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ports = compose({ env: repo.env })
    const [task] = await ports.store.readTasks({ open: true })
    const events = (await ports.store.readEvents({})).length
    const at = new Date().toISOString()
    const both = [
      { uid: task!.uid, event: { type: 'checkpoint.failed', reason: 'no' } as const },
      { uid: 'nobody', event: { type: 'start.done' } as const },
    ]
    await expect(appendAll(ports, both, at)).rejects.toThrow(expect.objectContaining({ code: 'WT_007' }))
    expect(await ports.store.readEvents({})).toHaveLength(events)
    expect((await ports.store.findTaskByUid(task!.uid))?.state).toBe('active')
    await ports.close()
  })
  test('FR-039, AC-007, UT-005, IT-008: worktrees without a task are found and told, ours and those of others', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const orphan = await leftBehind(repo, lib, 'T1')
    const foreign = madeByHand(repo, orphan.path)
    const name = path.basename(orphan.path)
    expect((await complaints(repo)).filter((found) => !found.name.startsWith('pin '))).toMatchObject([
      { name: `worktree ${name}`, message: 'it is left of T1, which is closed', verdict: 'quarantine' },
      { name: 'folder by-hand', message: `${foreign} belongs to no task`, verdict: 'report' },
    ])
    const { json } = await offshoot(repo, 'recover', '--json')
    expect(json.recovered).toContainEqual(expect.objectContaining({ task: 'T1', verdict: 'quarantined' }))
    expect(json.reported).toMatchObject([{ name: 'folder by-hand' }])
    const logged = async () => (await lib.audit()).filter(({ what }) => what === 'orphan.found')
    expect(await logged()).toMatchObject([{ task: '', detail: `worktree ${foreign}, branch by-hand` }])
    await offshoot(repo, 'recover')
    expect(await logged()).toHaveLength(1)
  })
  test('UT-005: DetectOrphans answers a list: each with its path, kind, branch and age', async () => {
    const repo = testRepo()
    const lib = library(repo)
    expect(await lib.orphans()).toEqual([])
    const { task: kept } = await lib.start({ task: 'kept' })
    const orphan = await leftBehind(repo, lib, 'T1')
    const foreign = madeByHand(repo, orphan.path)
    const folder = path.join(path.dirname(orphan.path), 'plain')
    mkdirSync(folder)
    const { task: missing } = await lib.start({ task: 'T2' })
    rmSync(missing.path, { recursive: true })
    const found = await lib.orphans()
    const short = found.map(({ age, ...rest }) => ({
      ...rest,
      aged: age !== null && age >= 0 && age < 600_000,
    }))
    expect(new Set(short)).toEqual(
      new Set([
        { path: missing.path, kind: 'missing', branch: 'offshoot/T2', task: 'T2', aged: true },
        { path: orphan.path, kind: 'worktree', branch: 'offshoot/T1', task: 'T1', aged: true },
        { path: foreign, kind: 'worktree', branch: 'by-hand', task: null, aged: true },
        { path: folder, kind: 'folder', branch: null, task: null, aged: true },
      ]),
    )
    expect(found.map(({ path: at }) => at)).not.toContain(kept.path)
    const { stdout } = await offshoot(repo, 'doctor', '--orphans')
    for (const { path: at } of found) expect(stdout).toContain(at)
  })
  test('FR-039, AC-007, IT-008: a task whose worktree was deleted is found and told', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'TEST-002' })
    rmSync(task.path, { recursive: true })
    expect((await lib.prune({ dryRun: true })).skipped).toMatchObject([
      { task: { id: 'TEST-002' }, why: 'its workspace is gone; offshoot start TEST-002 makes it again' },
    ])
    expect(await complaints(repo)).toMatchObject([
      { name: 'task TEST-002', message: `its workspace ${task.path} is gone` },
    ])
  })
  test('FR-040, AC-025: a worktree without a task is cleaned away on proof instead of age (R5): ours, dead, and in the vault', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const orphan = await leftBehind(repo, lib, 'T1')
    expect(await lib.recover()).toContainEqual(
      expect.objectContaining({ task: 'T1', verdict: 'quarantined' }),
    )
    expect([linkedWorktrees(repo), existsSync(orphan.path)]).toEqual([[], false])
    const dirty = await leftBehind(repo, lib, 'T2', { dirty: true })
    const foreign = madeByHand(repo, dirty.path)
    expect((await lib.recover()).filter(({ verdict }) => verdict === 'quarantined')).toEqual([])
    expect(new Set(linkedWorktrees(repo).map((worktree) => worktree.path))).toEqual(
      new Set([dirty.path, foreign]),
    )
    expect(readFileSync(path.join(dirty.path, 'unsaved.txt'), 'utf8')).toBe('unsaved\n')
    expect(readFileSync(path.join(foreign, 'a.txt'), 'utf8')).toBe('one\n')
  })
  test('FR-040, AC-025: a task whose worktree was deleted goes when it is old enough, and not before', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    rmSync(task.path, { recursive: true })
    expect((await lib.prune()).removed).toEqual([])
    expect(ids((await lib.prune(old)).removed)).toEqual(['T1'])
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
  })
})
