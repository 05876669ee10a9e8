import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import type { FileSystem } from '../../src/core/ports/files.ts'
import type { GitExec } from '../../src/git/exec.ts'
import type { TaskView } from '../../src/index.ts'
import { testClock } from '../support/clock.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { libraryAsOther, ownedByOther } from '../support/other-user.ts'
import { noise } from '../support/random.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  commitFile,
  inFolder,
  library,
  linkedWorktrees,
  ownRefs,
  withEnv,
} from '../support/workspace.ts'

/** Everything counts as old, and nothing as one of the newest. */
const old = { olderThanMs: 0 }
const all = { prune: { minKeep: 0 } }

async function withTasks(repo: TestRepo, ids: readonly string[], flags: object = {}) {
  const clock = testClock()
  const lib = library(repo, { flags: { ...all, ...flags }, clock })
  const tasks: TaskView[] = []
  for (const id of ids) tasks.push((await lib.start({ task: id })).task)
  return { lib, clock, tasks, at: (n: number, name: string) => path.join(tasks[n]!.path, name) }
}

const ids = (told: readonly { task: { id: string } }[]) => told.map(({ task }) => task.id)

describe('prune', () => {
  test('R6, R7, P1: old tasks go into the trash, oldest first, and the checkout stays as it was', async () => {
    const repo = testRepo({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
    const { lib, tasks, at } = await withTasks(repo, ['T1', 'T2', 'T3'])
    commitFile(inFolder(repo, tasks[0]!.path), 'done.txt', 'done\n')
    writeFileSync(at(1, 'build.log'), 'ignored\n')
    const before = fingerprint(repo)
    const { stale, removed, skipped, errors } = await lib.prune(old)
    expect([ids(stale), ids(removed), skipped, errors]).toEqual([
      ['T1', 'T2', 'T3'],
      ['T1', 'T2', 'T3'],
      [],
      [],
    ])
    expect([linkedWorktrees(repo), branches(repo), await lib.list()]).toEqual([[], ['main'], []])
    expect(fingerprint(repo)).toEqual(before)
    expect(ownRefs(repo).filter((ref) => ref.startsWith('refs/offshoot/base/'))).toEqual([])
  })

  test('P3: every pruned task comes back with undo, commits, index and ignored files included', async () => {
    const repo = testRepo({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
    const { lib, tasks, at } = await withTasks(repo, ['T1', 'T2'])
    const commit = commitFile(inFolder(repo, tasks[0]!.path), 'done.txt', 'done\n')
    writeFileSync(at(1, 'build.log'), 'ignored\n')
    const { removed } = await lib.prune(old)
    for (const { operation } of removed) await lib.undo(operation)
    expect(linkedWorktrees(repo).map(({ branch, head }) => [branch, head])).toEqual([
      ['offshoot/T1', commit],
      ['offshoot/T2', tasks[1]!.head],
    ])
    expect(inFolder(repo, tasks[0]!.path).git('status', '--porcelain')).toBe('')
    expect(readFileSync(at(1, 'build.log'), 'utf8')).toBe('ignored\n')
    expect(ids((await lib.prune(old)).removed)).toEqual(['T1', 'T2'])
  })

  test('R6: --dry-run says the same and changes nothing', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_PRUNE_MIN_KEEP: '0' })
    const { at } = await withTasks(repo, ['T1', 'T2'])
    writeFileSync(at(1, 'new.txt'), 'new\n')
    const told = await offshoot(repo, 'prune', '--older-than', '0m', '--dry-run')
    expect(told.stdout).toMatch(
      /^T1 +would be pruned +not used for 0 minutes\nT2 +kept +1 file that no commit/,
    )
    expect(told.stdout).toContain('Would prune 1 task, kept 1, 0 errors')
    expect(told.stderr).toContain('offshoot checkpoint T2 keeps them')
    const { json } = await offshoot(repo, 'worktree', 'prune', '--hours', '0', '--dry-run', '--json')
    expect(json).toMatchObject({ dryRun: true, stale: [{ task: { id: 'T1' } }], removed: [] })
    expect((await offshoot(repo, 'list', '--json')).json.tasks).toHaveLength(2)
    const done = await offshoot(repo, 'prune', '--older-than', '0m')
    expect(done.stdout).toMatch(/^T1 +pruned +not used for 0 minutes; undo: offshoot undo \w{6}\nT2 +kept/)
  })

  test('R6: with the defaults a fresh task stays, and so do the newest two', async () => {
    const { lib } = await withTasks(testRepo(), ['T1', 'T2', 'T3'], { prune: {} })
    expect(ids((await lib.prune()).skipped)).toEqual(['T1', 'T2', 'T3'])
    const { removed, skipped } = await lib.prune(old)
    expect([ids(removed), skipped.map(({ why }) => why)]).toEqual([
      ['T1'],
      ['one of the newest, always kept', 'one of the newest, always kept'],
    ])
  })

  test('R6: what no commit and no step holds stays; --force makes it a step first', async () => {
    const repo = testRepo()
    const { lib, at } = await withTasks(repo, ['T1'])
    writeFileSync(at(0, 'new.txt'), 'new\n')
    const kept = await lib.prune(old)
    expect(kept).toMatchObject({ removed: [], skipped: [{ why: '1 file that no commit and no step holds' }] })
    expect(kept.warnings).toHaveLength(1)
    const { removed } = await lib.prune({ ...old, force: true })
    expect(removed).toMatchObject([{ task: { id: 'T1', state: 'rejected', checkpoints: 1 } }])
    await lib.undo()
    expect(readFileSync(at(0, 'new.txt'), 'utf8')).toBe('new\n')
    const quiet = library(repo, { flags: { prune: { minKeep: 0, protectUncommitted: false } } })
    writeFileSync(at(0, 'more.txt'), 'more\n')
    expect((await quiet.prune(old)).removed).toMatchObject([{ task: { checkpoints: 2 } }])
  })

  test('R6: an edit that leaves size and time of the file as they were is still uncommitted work', async () => {
    const { lib, at } = await withTasks(testRepo(), ['T1'])
    execFileSync(
      'sh',
      ['-c', 'touch -r a.txt stamp && printf "two\\n" > a.txt && touch -r stamp a.txt && rm stamp'],
      {
        cwd: path.dirname(at(0, 'a.txt')),
      },
    )
    expect((await lib.prune(old)).skipped).toMatchObject([{ why: '1 file that no commit and no step holds' }])
  })

  test('R6: an error of one task does not stop the rest, and is told; that one goes on', async () => {
    const repo = testRepo()
    const { lib, tasks } = await withTasks(repo, ['T1', 'T2', 'T3'])
    writeFileSync(path.join(repo.dir, '.git/refs/heads/offshoot/T2.lock'), '')
    const { removed, errors } = await lib.prune(old)
    expect([ids(removed), ids(errors)]).toEqual([['T1', 'T3'], ['T2']])
    expect(errors[0]?.error).toMatchObject({ code: 'WT_012', message: expect.stringContaining('T2.lock') })
    expect(existsSync(tasks[1]!.path)).toBe(true)
    rmSync(path.join(repo.dir, '.git/refs/heads/offshoot/T2.lock'))
    expect(await lib.recover()).toEqual([])
    writeFileSync(path.join(tasks[1]!.path, 'more.txt'), 'more\n')
    expect(await lib.checkpoint({ task: 'T2' })).toMatchObject({ created: true })
    expect(ids((await lib.prune(old)).removed)).toEqual(['T2'])
  })

  test('R6: what cannot be looked at is an error of its own, with --dry-run as without', async () => {
    const repo = testRepo()
    const { lib, tasks } = await withTasks(repo, ['T1', 'T2', 'T3'])
    for (const task of ['T1', 'T2', 'T3']) await lib.checkpoint({ task })
    const ports = compose({ env: repo.env })
    const { uid = '' } = (await ports.store.findTaskByPath(tasks[0]!.path)) ?? {}
    await Promise.all([lib.close(), ports.close()])
    const [steps = ''] = globSync(path.join(repo.home, 'state/vaults/*.git/refs/tasks', uid))
    writeFileSync(steps, '')
    const away = path.join(repo.home, 'mount')
    repo.git('worktree', 'move', tasks[1]!.path, away)
    const staleMount = (files: FileSystem): FileSystem => ({
      ...files,
      readKind: (target) =>
        target.startsWith(away)
          ? Promise.reject(Object.assign(new Error('ESTALE: stale file handle'), { code: 'ESTALE' }))
          : files.readKind(target),
    })
    const faulty = library(repo, { flags: all, around: { files: staleMount } })
    const seen = await faulty.prune({ ...old, dryRun: true })
    expect([ids(seen.stale), ids(seen.skipped), ids(seen.errors).toSorted()]).toEqual([
      ['T3'],
      [],
      ['T1', 'T2'],
    ])
    const { removed, errors } = await faulty.prune(old)
    expect([ids(removed), ids(errors).toSorted()]).toEqual([['T3'], ['T1', 'T2']])
  })

  test('R6, S2: two at once are refused, and a task that is in use is skipped', async () => {
    const repo = testRepo()
    const { lib } = await withTasks(repo, ['T1', 'T2'])
    const ports = compose({ env: repo.env })
    const { id } = (await ports.repos.readAll())[0]!
    await ports.locks.hold(`prune ${id}`, { verb: 'prune' }, async () => {
      await expect(lib.prune(old)).rejects.toMatchObject({ code: 'WT_012' })
      expect((await lib.prune({ ...old, dryRun: true })).stale).toHaveLength(2)
    })
    await ports.locks.hold(`task ${id} t1`, { verb: 'checkpoint' }, async () => {
      const { removed, skipped } = await lib.prune(old)
      expect([ids(removed), skipped]).toMatchObject([['T2'], [{ why: 'another command is at work in it' }]])
    })
    await ports.close()
  })

  test('R6: while an agent runs its task stays', async () => {
    const { lib } = await withTasks(testRepo(), ['T1'])
    await lib.task('T1').run('agent', async () => {
      expect(await lib.prune({ ...old, force: true })).toMatchObject({
        removed: [],
        skipped: [{ why: 'run is under way' }],
      })
    })
  })

  test('R6: a branch that was there before stays, and the task counts as kept', async () => {
    const repo = testRepo()
    repo.git('branch', 'mine')
    const lib = library(repo, { flags: all })
    await lib.start({ task: 'T1', existingBranch: 'mine' })
    expect((await lib.prune(old)).removed).toMatchObject([{ task: { state: 'kept' } }])
    expect(branches(repo)).toEqual(['main', 'mine'])
  })

  test('R6: with prune.cleanupOnComplete a run that ended well takes the folder away and leaves the branch', async () => {
    const repo = testRepo()
    const { lib, tasks } = await withTasks(repo, ['T1'], { prune: { cleanupOnComplete: true } })
    const failed = await lib.run({ task: 'T1', create: true, command: ['sh', '-c', 'exit 3'] })
    expect(failed.task.state).toBe('failed')
    const done = await lib.run({ task: 'T1', create: true, command: ['sh', '-c', 'echo b > b.txt'] })
    expect(done.task.state).toBe('kept')
    expect([existsSync(tasks[0]!.path), repo.git('show', 'offshoot/T1:b.txt')]).toEqual([false, 'b\n'])
    await lib.undo()
    expect(existsSync(tasks[0]!.path)).toBe(true)
  })

  test('R6: so does a prune that finds it completed; a run that never began takes nothing away', async () => {
    const repo = testRepo()
    const hooks = { preRun: 'exit 1' }
    const { lib, tasks } = await withTasks(repo, ['T1'])
    await lib.run({ task: 'T1', create: true, command: ['sh', '-c', 'echo b > b.txt'] })
    const cleaning = library(repo, { flags: { prune: { cleanupOnComplete: true }, hooks } })
    await expect(cleaning.run({ task: 'T1', create: true, command: ['true'] })).rejects.toMatchObject({
      name: 'AppError',
    })
    expect(existsSync(tasks[0]!.path)).toBe(true)
    expect((await cleaning.prune()).removed).toMatchObject([{ why: 'completed', task: { state: 'kept' } }])
    expect([existsSync(tasks[0]!.path), repo.git('show', 'offshoot/T1:b.txt')]).toEqual([false, 'b\n'])
  })
})

describe('the trash and the clock', () => {
  async function rejected() {
    const repo = testRepo()
    const { lib, clock, at } = await withTasks(repo, ['T1'])
    writeFileSync(at(0, 'new.txt'), 'new\n')
    const { operation } = await lib.reject({ task: 'T1' })
    const isBack = async () => {
      await lib.undo(operation)
      return readFileSync(at(0, 'new.txt'), 'utf8') === 'new\n'
    }
    return { lib, clock, isBack }
  }
  const announced = /^Closed more than 30 days ago .* a day from now or later .* for good: T1\./

  test('R12, P3: a clock that jumps forward lets nothing go; set right again, nothing is announced any more', async () => {
    const { lib, clock, isBack } = await rejected()
    clock.setAhead(31)
    for (const force of [false, true])
      expect((await lib.prune({ force })).warnings).toEqual([expect.stringMatching(announced)])
    clock.setAhead(0)
    expect((await lib.prune()).warnings).toEqual([])
    // The announcement of then counts for nothing now.
    clock.setAhead(33)
    expect((await lib.prune()).warnings).toEqual([expect.stringMatching(announced)])
    clock.setAhead(0)
    expect(await isBack()).toBe(true)
  })

  test('R12, P3: nor does one that jumps again and again: any event between tells that it was set right', async () => {
    const { lib, clock, isBack } = await rejected()
    for (const days of [31, 33, 35]) {
      clock.setAhead(days)
      expect((await lib.prune()).warnings).toEqual([expect.stringMatching(announced)])
      clock.setAhead(0)
      await lib.start({ task: `Day-${days}` })
    }
    expect(await isBack()).toBe(true)
  })

  test('R12, R7: what goes for good is announced, and goes with a prune a day later; --dry-run tells both', async () => {
    const { lib, clock } = await rejected()
    clock.setAhead(31)
    for (const dryRun of [true, false])
      expect((await lib.prune({ dryRun })).warnings).toEqual([expect.stringMatching(announced)])
    clock.setAhead(31.9)
    expect((await lib.prune()).warnings).toEqual([expect.stringMatching(announced)])
    clock.setAhead(32.1)
    expect((await lib.prune({ dryRun: true })).warnings).toEqual([
      'Closed for 30 days, these would be gone for good: T1.',
    ])
    expect((await lib.ops())[0]?.expired).toBe(false)
    expect((await lib.prune()).warnings).toEqual(['Deleted for good: 1 task, closed for 30 days.'])
    expect((await lib.ops())[0]?.expired).toBe(true)
  })

  test('R12: what came back and was closed anew after it was announced waits for its own time', async () => {
    const { lib, clock, isBack } = await rejected()
    clock.setAhead(31)
    await lib.prune()
    expect(await isBack()).toBe(true)
    await lib.reject({ task: 'T1' })
    const told = async () => (await lib.prune()).warnings.filter((warning) => announced.test(warning))
    clock.setAhead(33)
    expect(await told()).toEqual([])
    clock.setAhead(31 + 31)
    expect(await told()).toHaveLength(1)
    expect((await lib.ops()).map(({ expired }) => expired)).toEqual([false, false, false])
  })
})

describe('the trash', () => {
  const trashOf = (task: { path: string }) =>
    path.join(path.dirname(task.path), '.trash', path.basename(task.path))

  test('P3, R6: above trash.maxMegabytes the folder leaves once it was announced, and undo makes it again', async () => {
    const repo = testRepo({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
    const { lib, tasks, at } = await withTasks(repo, ['T1'], { trash: { maxMegabytes: 1 } })
    writeFileSync(at(0, 'new.txt'), 'new\n')
    mkdirSync(at(0, 'logs'))
    writeFileSync(at(0, 'logs/big.log'), Buffer.alloc(2_000_000, 'x'))
    await lib.reject({ task: 'T1' })
    const announced = await lib.prune({ force: true, dryRun: true })
    expect(announced.warnings).toEqual([
      'The folders of T1 would leave the trash; their files are in the vault.',
    ])
    expect(existsSync(path.join(trashOf(tasks[0]!), 'workspace'))).toBe(true)
    const { warnings } = await lib.prune({ force: true })
    expect(warnings).toEqual(['1 folder left the trash; the vault has the files.'])
    expect(existsSync(path.join(trashOf(tasks[0]!), 'workspace'))).toBe(false)
    await lib.undo()
    expect(readFileSync(at(0, 'new.txt'), 'utf8')).toBe('new\n')
    expect(inFolder(repo, tasks[0]!.path).git('status', '--porcelain')).toBe('?? new.txt\n')
    expect(existsSync(at(0, 'logs/big.log'))).toBe(false)
  })

  test('R12: above trash.maxMegabytes the vault is packed as well, every step of it stays, and what is still too much is told', async () => {
    const repo = testRepo()
    const { lib, at } = await withTasks(repo, ['T1', 'T2'], { trash: { maxMegabytes: 1 } })
    // Each step holds the whole of a file that hardly changes: as loose objects they take megabytes.
    const text = noise(500_000).toString('base64')
    for (let n = 1; n <= 6; n++) {
      writeFileSync(at(0, 'big.txt'), `${n}\n${text}`)
      await lib.checkpoint({ task: 'T1' })
    }
    const usage = async () => (await lib.disk()).vault
    const before = await usage()
    const [freed, ...more] = (await lib.prune({ force: true })).warnings
    expect([freed, more]).toEqual([
      expect.stringMatching(/^The vault was packed, which freed \d.* MiB\.$/),
      [],
    ])
    expect(await usage()).toBeLessThan(before / 2)
    await lib.rewind({ task: 'T1', to: 2 })
    expect(readFileSync(at(0, 'big.txt'), 'utf8')).toBe(`2\n${text}`)
    writeFileSync(at(1, 'noise.bin'), noise(2_000_000))
    await lib.checkpoint({ task: 'T2' })
    expect((await lib.prune({ force: true })).warnings.at(-1)).toMatch(
      /more than trash\.maxMegabytes \(1 MB\).*trash\.keepDays/,
    )
  })

  test('P3: a folder with work that no step holds does not leave', async () => {
    const repo = testRepo()
    const { lib, tasks, at } = await withTasks(repo, ['T1'], { trash: { maxMegabytes: 1 } })
    writeFileSync(at(0, 'unsaved.bin'), Buffer.alloc(2_000_000, 'x'))
    await lib.remove({ task: 'T1', force: true })
    await lib.prune({ force: true })
    expect(existsSync(path.join(trashOf(tasks[0]!), 'workspace/unsaved.bin'))).toBe(true)
  })

  test('R6: what was closed longer than trash.keepDays ago is gone for good, and nothing else is', async () => {
    const repo = testRepo()
    const { lib, tasks, at } = await withTasks(repo, ['T1', 'T2'])
    for (const n of [0, 1]) writeFileSync(at(n, 'new.txt'), `new ${n}\n`)
    for (const task of ['T1', 'T2']) await lib.checkpoint({ task })
    const { operation } = await lib.reject({ task: 'T1' })
    const soon = library(repo, { flags: { ...all, trash: { keepDays: 0 } } })
    expect((await soon.prune()).warnings).toEqual(['Deleted for good: 1 task, closed for 0 days.'])
    expect(existsSync(trashOf(tasks[0]!))).toBe(false)
    expect(ownRefs(repo).filter((ref) => ref.startsWith('refs/offshoot/trash/'))).toEqual([])
    await expect(lib.undo(operation)).rejects.toMatchObject({
      code: 'WT_005',
      message: expect.stringContaining('too old'),
    })
    expect((await lib.ops()).map(({ id, expired }) => [id, expired])).toEqual([[operation, true]])
    expect((await offshoot(repo, 'ops')).stdout).toMatch(/^\w+ +reject +T1 .* cannot be undone: too old\n$/)
    const vault = path.join(repo.home, 'state/vaults')
    const [name = ''] = readdirSync(vault)
    const fsck = ['--git-dir', path.join(vault, name), 'fsck', '--connectivity-only']
    execFileSync('git', fsck, {
      env: { ...repo.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(repo.dir, '.git/objects') },
    })
    rmSync(tasks[1]!.path, { recursive: true })
    await lib.start({ task: 'T2' })
    expect(readFileSync(at(1, 'new.txt'), 'utf8')).toBe('new 1\n')
  })

  test('R12: refs that cannot go are told, and the next prune goes on with them', async () => {
    const repo = testRepo()
    const { lib } = await withTasks(repo, ['T1'])
    await lib.reject({ task: 'T1' })
    const kept = ownRefs(repo).filter((ref) => ref.includes('/trash/'))
    const soon = library(repo, {
      flags: { ...all, trash: { keepDays: 0 } },
      around: { exec: refusing(repo) },
    })
    const { errors } = await soon.prune()
    expect(errors).toMatchObject([{ task: { id: 'T1' }, error: { code: 'WT_012' } }])
    expect(ownRefs(repo)).toEqual(expect.arrayContaining(kept))
    expect((await soon.prune()).errors).toEqual([])
    expect(ownRefs(repo)).toEqual(['refs/offshoot/repo'])
  })

  /** Somebody moves the ref once, between the look at it and its deletion. */
  function refusing(repo: TestRepo) {
    let isDone = false
    return (exec: GitExec): GitExec =>
      (call) => {
        const stdin = String(call.stdin ?? '')
        const ref = /refs\/offshoot\/trash\/\w+/.exec(stdin)?.[0]
        if (call.args.includes('update-ref') && ref !== undefined && !isDone) {
          isDone = true
          repo.git('update-ref', ref, commitFile(repo, 'other.txt', 'other\n'))
        }
        return exec(call)
      }
  }

  test('R12: no ref is left of what expired: branch, detached HEAD, staged files, refs that strayed', async () => {
    const repo = testRepo()
    const { lib, tasks } = await withTasks(repo, ['T1'])
    const workspace = inFolder(repo, tasks[0]!.path)
    workspace.git('switch', '--quiet', '--detach')
    commitFile(workspace, 'detached.txt', 'on no branch\n')
    repo.git('tag', 'v1')
    await lib.run({ task: 'T1', create: false, command: ['git', 'tag', '-d', 'v1'] })
    await lib.reject({ task: 'T1' })
    repo.write('a.txt', 'staged\n')
    repo.git('add', 'a.txt')
    await lib.start({ task: 'T2', isolation: 'branch' })
    await lib.reject({ task: 'T2' })
    const kinds = ownRefs(repo).map((ref) => ref.replace(/^refs\/offshoot\/(\w+)(\/\w+)*/, '$1'))
    expect(kinds.toSorted()).toEqual(['repo', 'stray', 'trash', 'trash', 'trash-head', 'trash-index'])
    const soon = library(repo, { flags: { trash: { keepDays: 0 } } })
    expect((await soon.prune()).warnings).toEqual(['Deleted for good: 2 tasks, closed for 0 days.'])
    expect(ownRefs(repo)).toEqual(['refs/offshoot/repo'])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'R12: folders that may not be written, as in a cache of Go modules, go with the rest',
    async () => {
      const repo = ownedByOther(testRepo({ 'a.txt': 'one\n', '.gitignore': 'cache/\n' }))
      const script = `
        const modes = { T1: 0o555, T2: 0, T3: 0o444 }
        for (const id of ['T1', 'T2', 'T3']) {
          const { task } = await lib.start({ task: id })
          fs.mkdirSync(task.path + '/cache/module', { recursive: true })
          fs.writeFileSync(task.path + '/cache/module/file', 'x')
          for (const name of ['cache/module', 'cache']) fs.chmodSync(task.path + '/' + name, modes[id])
          await lib.reject({ task: id })
        }
        const { errors, warnings } = await lib.prune({ force: true })
        return { errors, warnings }`
      expect(await libraryAsOther(repo, script, { trash: { keepDays: 0 } })).toEqual({
        errors: [],
        warnings: ['Deleted for good: 3 tasks, closed for 0 days.'],
      })
    },
  )

  /** Nobody, not even root, can change or move that folder until the answer is called. */
  function stick(folder: string, { skip }: TestContext): () => void {
    const chattr = (how: string) => spawnSync('chattr', [how, folder], { encoding: 'utf8' })
    const { status, stderr } = chattr('+i')
    if (status !== 0) skip(`No folder can be made immutable here: ${stderr}`)
    const free = () => void chattr('-i')
    onTestFinished(free)
    return free
  }

  test('R12: above trash.maxMegabytes, too, a folder that cannot leave stops no other', async (context) => {
    const repo = testRepo({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
    const { lib, tasks, at } = await withTasks(repo, ['T1', 'T2'], { trash: { maxMegabytes: 1 } })
    for (const n of [0, 1]) writeFileSync(at(n, 'big.log'), Buffer.alloc(2_000_000, 'x'))
    for (const task of ['T1', 'T2']) await lib.reject({ task })
    const [stuck = '', other = ''] = tasks.map((task) => path.join(trashOf(task), 'workspace'))
    stick(stuck, context)
    const { errors, warnings } = await lib.prune({ force: true })
    expect([ids(errors), warnings[0]]).toEqual([['T1'], '1 folder left the trash; the vault has the files.'])
    expect([stuck, other].map((folder) => existsSync(folder))).toEqual([true, false])
  })

  test('R12: a folder that cannot be deleted is told, stops nothing else, and goes when it can', async (context) => {
    const repo = testRepo()
    const { lib, tasks, at } = await withTasks(repo, ['T1', 'T2', 'T3', 'T4'])
    await lib.checkpoint({ task: 'T4' })
    rmSync(tasks[3]!.path, { recursive: true })
    await lib.start({ task: 'T4' })
    for (const task of ['T1', 'T2']) await lib.reject({ task })
    const stuck = path.join(trashOf(tasks[0]!), 'workspace')
    const free = stick(stuck, context)
    const soon = library(repo, { flags: { ...all, trash: { keepDays: 0 } } })
    writeFileSync(at(3, 'new.txt'), 'new\n')
    const { removed, errors } = await soon.prune(old)
    expect([ids(removed), ids(errors)]).toEqual([['T3'], ['T1']])
    expect(errors[0]?.error).toMatchObject({ path: expect.stringContaining(stuck) })
    expect([0, 1, 3].map((n) => existsSync(trashOf(tasks[n]!)))).toEqual([true, false, false])
    // It is half gone, and does not come back.
    await expect(lib.undo((await lib.ops()).find(({ task }) => task === 'T1')?.id)).rejects.toMatchObject({
      code: 'WT_005',
    })
    free()
    expect((await soon.prune()).errors).toEqual([])
    expect(existsSync(trashOf(tasks[0]!))).toBe(false)
    expect(ownRefs(repo).filter((ref) => ref.startsWith('refs/offshoot/trash/'))).toEqual([])
  })

  test('R12: what lies in the trash without an operation goes after trash.keepDays, and nothing else does', async () => {
    const repo = testRepo()
    const { lib, clock, tasks, at } = await withTasks(repo, ['T1', 'T2', 'T3', 'T4'])
    for (const n of [0, 1, 2, 3]) writeFileSync(at(n, 'new.txt'), `new ${n}\n`)
    // In the way of a rewind.
    await lib.checkpoint({ task: 'T1' })
    rmSync(at(0, 'new.txt'))
    writeFileSync(at(0, '.gitignore'), 'new.txt\n')
    await lib.checkpoint({ task: 'T1' })
    writeFileSync(at(0, 'new.txt'), 'in no step\n')
    await lib.rewind({ task: 'T1', to: 1 })
    // What was left when a workspace was made again.
    await lib.checkpoint({ task: 'T2' })
    rmSync(tasks[1]!.path, { recursive: true })
    await lib.start({ task: 'T2' })
    // With an operation, of a task that is listed and of one that is not.
    await lib.reject({ task: 'T3' })
    await lib.delete('T4')
    const trash = path.dirname(trashOf(tasks[0]!))
    const foreign = path.join(trash, 'somebody-elses')
    mkdirSync(foreign)
    const kept = [trashOf(tasks[2]!), trashOf(tasks[3]!), foreign]
    const loose = readdirSync(trash)
      .map((name) => path.join(trash, name))
      .filter((one) => !kept.includes(one))
    expect(loose.map((one) => path.basename(one)).toSorted()).toEqual([
      `${path.basename(tasks[0]!.path)}.aside`,
      path.basename(tasks[1]!.path),
    ])
    const age = (days: number) => {
      const then = new Date(Date.now() - days * 86_400_000)
      for (const one of [...loose, ...kept]) utimesSync(one, then, then)
    }
    age(29)
    expect((await lib.prune()).warnings).toEqual([])
    age(31)
    const told = [
      expect.stringMatching(/^In the trash for 30 days: 2 folders of no operation; .* a day from now/),
    ]
    expect((await lib.prune({ dryRun: true })).warnings).toEqual(told)
    expect((await lib.prune()).warnings).toEqual(told)
    expect([...loose, ...kept].every((one) => existsSync(one))).toBe(true)
    clock.setAhead(1)
    expect((await lib.prune({ dryRun: true })).warnings).toEqual([
      'Would be deleted for good: 2 folders of no operation, in the trash for 30 days.',
    ])
    expect((await lib.prune()).warnings).toEqual([
      `Deleted for good: ${loose.length} folders of no operation, in the trash for 30 days.`,
    ])
    expect(loose.filter((one) => existsSync(one))).toEqual([])
    expect(kept.filter((one) => existsSync(one))).toEqual(kept)
  })

  test('R6: a disk above disk.warnPercent is told, and the trash gives up what the vault has', async () => {
    const repo = testRepo()
    const { lib, tasks, at } = await withTasks(repo, ['T1'], { disk: { warnPercent: 1 } })
    writeFileSync(at(0, 'new.txt'), 'new\n')
    await lib.reject({ task: 'T1' })
    const [told] = (await lib.prune({ dryRun: true })).warnings
    expect(told).toMatch(/ is \d+ % full \(disk\.warnPercent is 1\)\.$/)
    expect(existsSync(path.join(trashOf(tasks[0]!), 'workspace'))).toBe(true)
    expect((await lib.prune()).warnings).toEqual([expect.stringContaining('has left the trash and the pool')])
    expect(existsSync(path.join(trashOf(tasks[0]!), 'workspace'))).toBe(false)
    await lib.undo()
    expect(readFileSync(at(0, 'new.txt'), 'utf8')).toBe('new\n')
  })

  test('R6: what cannot be read is no reason to stop', async () => {
    const { lib, at } = await withTasks(testRepo(), ['T1', 'T2'])
    writeFileSync(at(0, 'secret'), 'secret\n')
    chmodSync(at(0, 'secret'), 0)
    expect(ids((await lib.prune(old)).removed)).toContain('T2')
  })
})
