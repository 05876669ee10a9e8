import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { refreshForecast } from '../../src/core/landing/refresh-forecast.ts'
import { findRepo } from '../../src/core/tasks/repo.ts'
import type { OpenRepo } from '../../src/index.ts'
import { recordGit } from '../support/git-record.ts'
import { costOf, manyTasks } from '../support/forecast/many-tasks.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { lines } from '../support/worked.ts'
import { library, withEnv } from '../support/workspace.ts'

type Files = Readonly<Record<string, string | null>>

/** Writes the files into the workspace, null deletes one, and takes a step. */
async function step(lib: OpenRepo, task: string, files: Files): Promise<void> {
  const { path: folder } = (await lib.find(task)) ?? { path: '' }
  for (const [name, content] of Object.entries(files)) {
    if (content === null) rmSync(path.join(folder, name))
    else writeFileSync(path.join(folder, name), content)
  }
  await lib.checkpoint({ task })
}

/** Tasks T1, T2, … on a repository of three files, each with one step. */
async function tasksOn(works: readonly Files[], files: Record<string, string> = {}) {
  const user = testRepo({ 'a.txt': lines(), 'b.txt': lines(), 'c.txt': lines({}, 40), ...files })
  const lib = library(user)
  for (const [at, work] of works.entries()) {
    await lib.start({ task: `T${at + 1}` })
    await step(lib, `T${at + 1}`, work)
  }
  return { user, lib }
}

/** T1 and T2 conflict, T3 renames what T4 edits, T5 is alone. */
const works: Files[] = [
  { 'a.txt': lines({ 3: 'T1' }), 'new.txt': 'new\n' },
  { 'a.txt': lines({ 3: 'T2', 20: 'T2' }) },
  { 'c.txt': null, 'd.txt': lines({}, 40) },
  { 'c.txt': lines({ 9: 'T4' }, 40) },
  { 'e.txt': 'alone\n' },
]

const pairs = ({ pairs: all }: Awaited<ReturnType<OpenRepo['forecast']>>) =>
  all.map(({ first, second, level }) => `${first} ${second} ${level}`)

describe('F1: what a forecast says', () => {
  test('F1: who meets whom, in which lines, and in which order to land', async () => {
    const { user } = await tasksOn(works)
    user.write('b.txt', 'mine\n')
    const { code, stdout } = await offshoot(user, 'forecast')
    expect(code).toBe(0)
    expect(stdout).toBe(
      `${[
        '   TASK  FILES  TARGET  CHECKOUT  1   2   3  4  5',
        '1  T1    2      .       .             x1  .  .  .',
        '2  T2    1      .       .         x1      .  .  .',
        '3  T3    2      .       .         .   .      =  .',
        '4  T4    1      .       .         .   .   =     .',
        '5  T5    1      .       .         .   .   .  .',
        '',
        '. nothing in common; = same file, merges cleanly; x conflict, in so many files',
        '',
        'T1, then T2: conflict: a.txt (content, line 3)',
        'T3, then T4: same file, merges cleanly: c.txt',
        '',
        'Land them in this order:',
        '  1. T3: It conflicts with no other task.',
        '  2. T4: It conflicts with no other task.',
        '  3. T5: It conflicts with no other task.',
        '  4. T1: It conflicts with the fewest others (T2), and is the oldest of those.',
        '  5. T2: It conflicts with T1: update it when that has landed.',
      ].join('\n')}\n`,
    )
  })

  test('F1: the target that has moved on, and uncommitted changes of the user’s', async () => {
    const { user, lib } = await tasksOn([
      { 'a.txt': lines({ 3: 'T1' }) },
      { 'b.txt': lines({ 3: 'T2' }) },
      { 'c.txt': null },
    ])
    user.write('a.txt', lines({ 3: 'main' }))
    user.write('b.txt', lines({ 15: 'main' }))
    user.git('commit', '--all', '--quiet', '--message=Move on')
    user.write('b.txt', lines({ 3: 'mine', 15: 'main' }))
    user.write('c.txt', lines({ 9: 'mine' }, 40))
    const { tasks, order } = await lib.forecast()
    const clash = (file: string, kind: string, more = {}) => [{ path: file, kind, ...more }]
    const third = { lines: [{ from: 3, to: 3 }] }
    expect(tasks.map(({ task, target, checkout }) => [task, target.level, checkout.level])).toEqual([
      ['T1', 'conflict', 'conflict'],
      ['T2', 'same-file', 'conflict'],
      ['T3', 'none', 'conflict'],
    ])
    expect(tasks.map(({ checkout }) => checkout.conflicts)).toEqual([
      clash('a.txt', 'content', third),
      clash('b.txt', 'content', third),
      clash('c.txt', 'delete/modify'),
    ])
    expect(tasks.map(({ target }) => target.files)).toEqual([['a.txt'], ['b.txt'], []])
    expect(order[0]).toEqual({
      task: 'T1',
      why: 'It would not land: it conflicts with your checkout in 1 file.',
    })
    // On another branch the target is the same, and the checkout is not.
    user.git('stash', '--quiet')
    user.git('checkout', '--quiet', '-b', 'other', 'HEAD^')
    const elsewhere = await lib.forecast()
    expect(elsewhere.tasks.map(({ target, checkout }) => [target.level, checkout.level])).toEqual([
      ['conflict', 'none'],
      ['same-file', 'none'],
      ['none', 'none'],
    ])
  })

  test('F1: a folder in the place of a file, and names that differ in case alone, are conflicts', async () => {
    const { lib } = await tasksOn([{ x: 'a file\n' }, { 'a.txt': lines({ 1: 'T2' }) }, { X: 'another\n' }])
    await lib.start({ task: 'T4' })
    const { path: folder } = (await lib.find('T4')) ?? { path: '' }
    const { mkdirSync } = await import('node:fs')
    mkdirSync(path.join(folder, 'x'))
    await step(lib, 'T4', { 'x/y': 'in a folder\n' })
    const made = await lib.forecast()
    expect(made.pairs.map(({ first, second, conflicts }) => [first, second, conflicts])).toEqual([
      ['T1', 'T3', [{ path: 'X', kind: 'case' }]],
      ['T1', 'T4', [{ path: 'x', kind: 'untracked' }]],
      ['T3', 'T4', []],
    ])
  })

  test('F1: conflict markers that a task adds land nowhere', async () => {
    const marked = `<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n`
    const { lib } = await tasksOn([{ 'n.txt': marked }, { 'n.txt': 'T2\n' }])
    const made = await lib.forecast()
    expect(made.tasks[0]?.checkout).toMatchObject({
      level: 'conflict',
      conflicts: [{ path: 'n.txt', kind: 'markers', line: 1 }],
    })
    expect(made.pairs).toMatchObject([{ first: 'T1', second: 'T2', level: 'conflict', on: 'start' }])
  })

  test('F1: rules how to merge count as they are when the second task lands', async () => {
    const attributes = { '.gitattributes': 'a.txt merge=union\n' }
    const both: Files[] = [{ 'a.txt': lines({ 3: 'T1' }) }, { 'a.txt': lines({ 3: 'T2' }) }]
    const union = await tasksOn([...both, { '.gitattributes': '\n' }], attributes)
    expect(pairs(await union.lib.forecast())).toEqual(['T1 T2 same-file'])
    // Once T3 has landed there is no such rule any more.
    expect(pairs(await union.lib.forecast({ after: ['T3'] }))).toEqual(['T1 T2 conflict'])
    // Where the two are tried on what they began with, a rule of the checkout and its index does not count.
    const later = await tasksOn(both)
    for (const [name, text] of Object.entries(attributes)) later.user.write(name, text)
    later.user.git('add', '--all')
    later.user.write('a.txt', lines({ 3: 'mine' }).replaceAll('line', 'LINE'))
    later.user.write('.gitattributes', '\n')
    const { pairs: tried } = await later.lib.forecast()
    expect(tried).toMatchObject([{ level: 'conflict', on: 'start' }])
    const plain = await tasksOn([...both, attributes])
    expect(pairs(await plain.lib.forecast())).toEqual(['T1 T2 conflict'])
    expect(pairs(await plain.lib.forecast({ after: ['T3'] }))).toEqual(['T1 T2 same-file'])
  })

  test('F1: the target is what a fresh checkout of it has, by the line ends that it asks for now', async () => {
    const rules = { '.gitattributes': '* text eol=crlf\n' }
    const dropped = await tasksOn([{ '.gitattributes': null }], rules)
    expect((await dropped.lib.forecast()).tasks[0]?.target.level).toBe('none')
    const added = await tasksOn([{ 'a.txt': lines({ 3: 'T1' }) }])
    added.user.write('.gitattributes', rules['.gitattributes'])
    added.user.git('add', '--all')
    added.user.git('commit', '--quiet', '--message=Ask for other line ends')
    const [task] = (await added.lib.forecast()).tasks
    expect([task?.target.level, task?.checkout.level]).toEqual(['conflict', 'none'])
    const fresh = path.join(added.user.home, 'fresh')
    added.user.git('worktree', 'add', '--quiet', '--detach', fresh, 'main')
    const { code, json } = await offshoot({ ...added.user, dir: fresh }, 'accept', 'T1', '--json')
    expect([code, json.error.data.conflicts]).toMatchObject([4, [{ path: 'a.txt', kind: 'content' }]])
  })

  test('F1: a task in the checkout itself keeps the others out, and meets what was put away for it', async () => {
    const { user, lib } = await tasksOn([{ 'a.txt': lines({ 3: 'T1' }) }])
    user.write('b.txt', lines({ 3: 'mine' }))
    await lib.start({ task: 'S', isolation: 'branch' })
    user.write('b.txt', lines({ 3: 'shadow' }))
    user.write('a.txt', lines({ 3: 'shadow' }))
    await lib.checkpoint({ task: 'S' })
    const made = await lib.forecast()
    const [one, shadow] = made.tasks
    expect(one?.checkout).toMatchObject({ level: 'unknown', why: expect.stringContaining('S is at work') })
    expect(one?.target.level).toBe('none')
    expect(shadow?.checkout).toMatchObject({ level: 'conflict', conflicts: [{ path: 'b.txt' }] })
    expect(made.pairs).toMatchObject([{ level: 'conflict', conflicts: [{ path: 'a.txt' }], on: 'start' }])
    expect(made.order.map(({ task }) => task)).toEqual(['T1', 'S'])
  })

  test('F1: a task whose steps are lost says why, and the others are forecast', async () => {
    const { user, lib } = await tasksOn(works.slice(0, 3))
    const { conflicts } = (await lib.forecast()).pairs[0] ?? {}
    const refs = path.join(vaultDir(user), 'refs', 'tasks')
    const [, , third] = await lib.list().then((tasks) => tasks.map(({ slug }) => slug).toReversed())
    const lost = readdirSync(refs).find((uid) => third?.endsWith(uid.slice(0, 6)))
    rmSync(path.join(refs, lost ?? ''))
    const made = await library(user).forecast()
    expect(made.tasks[2]).toMatchObject({ task: 'T3', files: 0, checkout: { level: 'unknown' } })
    expect(made.pairs).toMatchObject([{ first: 'T1', second: 'T2', conflicts }])
  })

  test('F1: one task needs no matrix, and none no table', async () => {
    const { user, lib } = await tasksOn([{ 'a.txt': lines({ 3: 'T1' }) }])
    expect((await offshoot(user, 'forecast')).stdout).toBe(
      'TASK  FILES  TARGET  CHECKOUT\nT1    1      .       .\n\n. nothing in common\n',
    )
    await lib.reject({ task: 'T1' })
    await lib.start({ task: 'T2' })
    expect(await offshoot(user, 'forecast')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No task has anything to land.\n',
    })
    expect((await library(testRepo()).forecast()).tasks).toEqual([])
  })
})

describe('F2: --after', () => {
  test('F2: what remains clean if these land first, in that order', async () => {
    const { user } = await tasksOn(works)
    const { stdout } = await offshoot(user, 'forecast', '--after', 'T3,T2', '--after', 'T1')
    expect(stdout).toBe(
      `${[
        'T3 lands cleanly.',
        'T2 lands cleanly.',
        'T1 does not land, and is left out: conflict: a.txt (content, line 3)',
        '',
        '   TASK  FILES  TARGET  CHECKOUT  1  2',
        '1  T4    1      .       =            .',
        '2  T5    1      .       .         .',
        '',
        '. nothing in common; = same file, merges cleanly',
        '',
        'T4 and your checkout after that: same file, merges cleanly: c.txt',
        '',
        'Land them in this order:',
        '  1. T4: It conflicts with no other task.',
        '  2. T5: It conflicts with no other task.',
      ].join('\n')}\n`,
    )
  })

  test('F2: refuses a task that is closed, twice there or unknown', async () => {
    const { user, lib } = await tasksOn(works.slice(0, 2))
    await lib.reject({ task: 'T2' })
    expect((await offshoot(user, 'forecast', '--after', 'T2')).code).toBe(2)
    expect((await offshoot(user, 'forecast', '--after', 'T1,T1')).code).toBe(2)
    expect((await offshoot(user, 'forecast', '--after', 'nope')).code).toBe(3)
    expect((await offshoot(user, 'forecast', '--after', '')).code).toBe(2)
  })
})

describe('F4: where else it is told', () => {
  test('F4: list marks conflicts of the last forecast without a git, and says where it may be outdated', async () => {
    const { user, lib } = await tasksOn(works.slice(0, 3))
    expect((await offshoot(user, 'list')).stdout, 'never forecast').not.toContain('CONFLICTS')
    await lib.forecast()
    const git = recordGit(user.home)
    const watched = withEnv(user, { PATH: `${git.bin}:${user.env.PATH}` })
    const marks = async () => {
      const { stdout } = await offshoot(watched, 'list')
      const [head = '', ...rows] = stdout.trimEnd().split('\n')
      return rows.map((row) => [row.split(' ')[0], row.slice(head.indexOf('CONFLICTS')).trim()])
    }
    expect(await marks()).toEqual([
      ['T3', ''],
      ['T2', 'T1'],
      ['T1', 'T2'],
    ])
    await step(lib, 'T2', { 'b.txt': 'more\n' })
    expect(await marks()).toEqual([
      ['T3', ''],
      ['T2', '?'],
      ['T1', 'T2, ?'],
    ])
    const { json } = await offshoot(watched, 'list', '--json')
    expect(json.forecast.marks).toContainEqual({ task: 'T1', conflicts: ['T2'], outdated: true })
    expect(git.take()).toEqual([])
    await lib.reject({ task: 'T2' })
    expect((await offshoot(user, 'list')).stdout).not.toContain('CONFLICTS')
  })

  test('F4: show names what a task would conflict with', async () => {
    const { user } = await tasksOn(works.slice(0, 2))
    user.write('a.txt', lines({ 3: 'mine' }))
    const { stdout } = await offshoot(user, 'show', 'T1')
    expect(stdout).toContain(
      'would conflict:\n  with your checkout: a.txt (content, line 3)\n  with T2: a.txt (content, line 3)\n',
    )
    const { json } = await offshoot(user, 'show', 'T2', '--json')
    expect(json.forecast).toMatchObject({
      task: 'T2',
      checkout: { level: 'conflict' },
      pairs: [{ first: 'T1', second: 'T2', level: 'conflict' }],
    })
  })

  test('F4: a dry run of accept says who will conflict then, by whichever strategy', async () => {
    const { user } = await tasksOn(works)
    for (const as of ['patch', 'squash'])
      expect((await offshoot(user, 'accept', 'T2', '--dry-run', '--as', as)).stdout).toBe(
        'T2 would land cleanly; T1 will then conflict in 1 file:\n  ~ a.txt\n',
      )
    const alone = await offshoot(user, 'accept', 'T5', '--dry-run', '--json')
    expect(alone.json.preview.afterwards).toEqual([])
    // A part of the work is what counts, if only that lands.
    const part = await offshoot(user, 'accept', 'T1', '--only', 'new.txt', '--dry-run')
    expect(part.stdout).toBe('T1 would land cleanly:\n  + new.txt\n')
    user.write('a.txt', lines({ 3: 'mine' }))
    expect((await offshoot(user, 'accept', 'T1', '--dry-run')).stdout).not.toContain('will then')
  })
})

/** Every object file of a repository. */
function objectsIn(gitDir: string): string[] {
  return readdirSync(path.join(gitDir, 'objects'), { recursive: true, encoding: 'utf8' }).sort()
}

describe('F5: what it leaves', () => {
  const state = (user: TestRepo) => ({
    objects: objectsIn(path.join(user.dir, '.git')),
    vault: objectsIn(vaultDir(user)),
    scratch: readdirSync(path.join(vaultDir(user), 'scratch')),
    status: user.git('status', '--porcelain=v2'),
    index: readFileSync(path.join(user.dir, '.git', 'index')).toString('base64'),
    refs: user.git('for-each-ref'),
  })

  test('F5: no object, no file in the scratch folder, and the user’s repository as it was', async () => {
    const { user, lib } = await tasksOn(works)
    user.write('c.txt', lines({ 20: 'mine' }, 40))
    user.write('untracked.txt', 'mine\n')
    // What start does in the background is done.
    await lib.close()
    const before = state(user)
    expect((await offshoot(user, 'forecast')).code).toBe(0)
    expect((await offshoot(user, 'forecast', '--after', 'T1')).code).toBe(0)
    expect(state(user)).toEqual(before)
  })

  test('F5: losing or damaging what it keeps costs only time', async () => {
    const { user } = await tasksOn(works)
    const said = async () => {
      const { at: _, ...rest } = (await offshoot(user, 'forecast', '--json')).json
      return rest
    }
    const first = await said()
    const [forecast, merges] = ['forecast.json', 'merges.json'].map((name) => path.join(vaultDir(user), name))
    for (const text of ['', '{"version":1', '[]', 'null', '{"version":1,"merges":[["x"]]}']) {
      for (const file of [forecast, merges]) writeFileSync(file ?? '', text)
      expect((await offshoot(user, 'list')).code).toBe(0)
      expect(await said()).toEqual(first)
    }
    for (const file of [forecast, merges]) rmSync(file ?? '')
    expect(await said()).toEqual(first)
    expect(existsSync(merges ?? '')).toBe(true)
  })

  test('F6: 10 open tasks: one git at a time, and no merge twice', async () => {
    const { user, takeStep } = await manyTasks(10, 500)
    const first = await costOf(user)
    expect(first).toMatchObject({ atOnce: 1, pairs: 5, conflicts: 2 })
    expect(first.merges).toBeGreaterThan(5)
    expect(first.merges).toBeLessThanOrEqual(12)
    expect(await costOf(user)).toMatchObject({ merges: 0, atOnce: 1, pairs: 5, conflicts: 2 })
    // Only pairs of T1: it conflicts with T0, so that all files are looked at, and some of T0's were merged before.
    await takeStep(1)
    const moved = await costOf(user)
    expect(moved).toMatchObject({ atOnce: 1, pairs: 5, conflicts: 2 })
    expect(moved.merges).toBeLessThanOrEqual(4)
    console.log(`10 tasks: ${first.ms} ms, ${first.merges} merges, git ${first.commands.join(' ')}`)
  })
})

test('F7: a forecast that tries only the tasks that have changed says what one of all tasks says', async () => {
  const { user, lib } = await tasksOn(works)
  const ports = compose({ env: user.env, background: false })
  onTestFinished(() => ports.close())
  const { repo } = await findRepo(ports, user.dir)
  if (!repo) throw new Error('There is no repository.')
  const { forecast: first, files } = await refreshForecast(ports, repo)
  expect(files.map((file) => path.relative(user.dir, file)).sort()).toEqual(
    ['a.txt', 'c.txt', 'd.txt', 'e.txt', 'new.txt'].sort(),
  )
  await step(lib, 'T2', { 'a.txt': lines({ 20: 'T2' }) })
  await step(lib, 'T5', { 'c.txt': lines({ 9: 'T5' }, 40) })
  const { forecast: quick } = await refreshForecast(ports, repo, { since: first })
  const pairsOf = (forecast: typeof quick) =>
    forecast.pairs.map(({ first: one, second, level }) => `${one} ${second} ${level}`)
  expect(pairsOf(quick)).toEqual(['T1 T2 same-file', 'T3 T4 same-file', 'T3 T5 same-file', 'T4 T5 conflict'])
  expect(quick.order.map(({ task }) => task)).toEqual(['T1', 'T2', 'T3', 'T4', 'T5'])
  const { forecast: whole } = await refreshForecast(ports, repo)
  expect({ ...quick, at: '' }).toEqual({ ...whole, at: '' })
  await lib.reject({ task: 'T4' })
  const { forecast: closed } = await refreshForecast(ports, repo, { since: quick })
  expect(pairsOf(closed)).toEqual(['T1 T2 same-file', 'T3 T5 same-file'])
})
