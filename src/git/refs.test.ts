/** Refs changed by git, and locks that a killed git left. */
import { existsSync, lstatSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type TestRepo, testRepo } from '../../test/support/repo.ts'
import type { Place } from '../core/model/repo.ts'
import { nodeFiles } from '../files/node.ts'
import { gitExec } from './exec.ts'
import {
  changeRefs,
  clearRefLocks,
  clearSharedLocks,
  findCommit,
  findReflogMessage,
  findRef,
  findRivals,
  readHeadBranch,
  refCommands,
  sharedLockMark,
} from './refs.ts'

const exec = gitExec({ env: process.env, recordChild: () => () => {} })

function placeOf(repo: TestRepo): Place {
  const gitDir = path.join(repo.dir, '.git')
  return { commonDir: gitDir, gitDir, checkout: repo.dir }
}

describe('refCommands', () => {
  const a = 'a'.repeat(40)
  const b = 'b'.repeat(40)

  test('L5: each change names what the ref must be now', () => {
    expect(refCommands([{ ref: 'refs/heads/x', old: null, new: a }])).toBe(
      `option no-deref\0create refs/heads/x\0${a}\0`,
    )
    expect(refCommands([{ ref: 'refs/heads/x', old: a, new: b }])).toBe(
      `option no-deref\0update refs/heads/x\0${b}\0${a}\0`,
    )
    expect(refCommands([{ ref: 'refs/heads/x', old: a, new: null }])).toBe(
      `option no-deref\0delete refs/heads/x\0${a}\0`,
    )
    expect(refCommands([])).toBe('')
  })
})

describe('changeRefs', () => {
  test('L5: all are changed or none, and a ref that moved in the meantime is told as false', async () => {
    const repo = testRepo()
    const place = placeOf(repo)
    const head = repo.git('rev-parse', 'HEAD').trim()
    const next = repo.git('commit-tree', '-p', head, '-m', 'next', 'HEAD^{tree}').trim()
    const refs = () =>
      repo.git('for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/heads').split('\n')
    const create = { ref: 'refs/heads/x', old: null, new: head }
    expect(await changeRefs(exec, nodeFiles(), place, [create], 'made by test')).toBe(true)
    expect(await findReflogMessage(place, 'refs/heads/x')).toBe('made by test')
    expect(
      await changeRefs(
        exec,
        nodeFiles(),
        place,
        [{ ref: 'refs/heads/y', old: null, new: head }, create],
        'again',
      ),
    ).toBe(false)
    const stale = { ref: 'refs/heads/x', old: next, new: null }
    expect(
      await changeRefs(
        exec,
        nodeFiles(),
        place,
        [{ ref: 'refs/heads/main', old: head, new: next }, stale],
        'stale',
      ),
    ).toBe(false)
    expect(refs()).toEqual([`main ${head}`, `x ${head}`, ''])
    expect(
      await changeRefs(exec, nodeFiles(), place, [{ ref: 'refs/heads/x', old: head, new: next }], 'moved'),
    ).toBe(true)
    repo.git('pack-refs', '--all')
    expect(
      await changeRefs(exec, nodeFiles(), place, [{ ref: 'refs/heads/x', old: next, new: null }], 'gone'),
    ).toBe(true)
    expect(refs()).toEqual([`main ${head}`, ''])
  })

  test('L5: a change that git refuses for another reason is thrown', async () => {
    const repo = testRepo()
    const missing = { ref: 'refs/heads/x', old: null, new: '1'.repeat(40) }
    await expect(changeRefs(exec, nodeFiles(), placeOf(repo), [missing], 'no')).rejects.toMatchObject({
      code: 'WT_020',
    })
    expect(await findRef(exec, placeOf(repo), 'refs/heads/x')).toBeUndefined()
  })

  test('L6: a lock of the packed refs is waited for: whoever recovers is about to put it away', async () => {
    const repo = testRepo()
    const head = repo.git('rev-parse', 'HEAD').trim()
    repo.git('branch', 'x')
    const lock = path.join(repo.dir, '.git/packed-refs.lock')
    writeFileSync(lock, '')
    setTimeout(() => rmSync(lock), 2_000)
    const gone = { ref: 'refs/heads/x', old: head, new: null }
    expect(await changeRefs(exec, nodeFiles(), placeOf(repo), [gone], 'gone')).toBe(true)
  })

  test('L6: a lock that a killed git left behind is cleared by name, and nothing else', async () => {
    const repo = testRepo()
    const place = placeOf(repo)
    const change = { ref: 'refs/heads/x', old: null, new: repo.git('rev-parse', 'HEAD').trim() }
    repo.write('.git/refs/heads/x.lock', '')
    repo.write('.git/refs/heads/y.lock', '')
    await expect(changeRefs(exec, nodeFiles(), place, [change], 'locked')).rejects.toMatchObject({
      code: 'WT_012',
    })
    await clearRefLocks(nodeFiles(), place, ['refs/heads/x', 'refs/heads/none'])
    expect(await changeRefs(exec, nodeFiles(), place, [change], 'free')).toBe(true)
    expect(await nodeFiles().readKind(path.join(place.commonDir, 'refs/heads/y.lock'))).toBe('file')
  })
})

describe('clearSharedLocks', () => {
  const names = ['packed-refs.lock', 'packed-refs.new', 'HEAD.lock']

  function locked() {
    const repo = testRepo()
    const gitDir = placeOf(repo).gitDir
    const from = Date.now()
    for (const name of names) repo.write(`.git/${name}`, '')
    const left = () => names.filter((name) => existsSync(path.join(gitDir, name)))
    return { gitDir, from, left }
  }

  test('R5: what was made while a git of ours was at work that was killed goes', async () => {
    const { gitDir, from, left } = locked()
    await clearSharedLocks(nodeFiles(), { gitDir, from, to: Date.now() })
    expect(left()).toEqual([])
  })

  test('R5: what was made before it, or after it had ended, is somebody else’s and stays', async () => {
    const { gitDir, from, left } = locked()
    await clearSharedLocks(nodeFiles(), { gitDir, from: from + 60_000, to: from + 61_000 })
    await clearSharedLocks(nodeFiles(), { gitDir, from: from - 60_000, to: from - 1_000 })
    // No record says when that git ended.
    await clearSharedLocks(nodeFiles(), { gitDir, from: from - 60_000, to: undefined })
    expect(left()).toEqual(names)
  })

  test('R5: one that is taken anew meanwhile stays', async () => {
    const { gitDir, from, left } = locked()
    setTimeout(() => utimesSync(path.join(gitDir, 'packed-refs.lock'), new Date(), new Date()), 1_000)
    await clearSharedLocks(nodeFiles(), { gitDir, from, to: Date.now() })
    expect(left()).toEqual(['packed-refs.lock', 'packed-refs.new'])
  })

  test('R5: of a change in process the lock says itself whose it is', async () => {
    const repo = testRepo()
    const place = placeOf(repo)
    const lock = path.join(place.commonDir, 'packed-refs.lock')
    for (const [make, goes] of [
      [() => writeFileSync(lock, ''), false],
      [() => symlinkSync(sharedLockMark('refs/heads/other'), lock), false],
      [() => symlinkSync(sharedLockMark('refs/heads/x'), lock), true],
    ] as const) {
      rmSync(lock, { force: true })
      make()
      await clearRefLocks(nodeFiles(), place, ['refs/heads/x'], Date.now() - 60_000)
      expect(lstatSync(lock, { throwIfNoEntry: false }) === undefined, String(make)).toBe(goes)
    }
  })
})

describe('findRef', () => {
  test('L5: a ref is found loose and packed; what is none is not found, whatever git could read it as', async () => {
    const repo = testRepo()
    const place = placeOf(repo)
    const head = repo.git('rev-parse', 'HEAD').trim()
    repo.git('tag', 'v1')
    repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    for (const packed of [false, true]) {
      if (packed) repo.git('pack-refs', '--all')
      expect(await findRef(exec, place, 'refs/heads/main')).toBe(head)
      expect(await findRef(exec, place, 'refs/heads/alias')).toBe(head)
      for (const name of [
        'none',
        'main~0',
        'main^{tree}',
        'main@{0}',
        `v1-0-g${head.slice(0, 10)}`,
        head,
        'HEAD',
        '',
      ]) {
        expect({ name, found: await findRef(exec, place, `refs/heads/${name}`) }).toEqual({ name })
      }
    }
  })
})

describe('findCommit', () => {
  test('L5: branches, tags, commits and expressions name commits; trees, ranges and options do not', async () => {
    const repo = testRepo()
    const place = placeOf(repo)
    const head = repo.git('rev-parse', 'HEAD').trim()
    repo.git('tag', '--annotate', '--message=one', 'v1')
    for (const rev of ['main', 'v1', 'HEAD', head, head.slice(0, 8), 'main~0', '@']) {
      expect({ rev, commit: await findCommit(exec, place, rev) }).toEqual({ rev, commit: head })
    }
    for (const rev of [
      'none',
      'main..main',
      'HEAD:a.txt',
      'HEAD^{tree}',
      '--all',
      '-x',
      '',
      '1'.repeat(40),
    ]) {
      expect({ rev, commit: await findCommit(exec, place, rev) }).toEqual({ rev })
    }
  })
})

describe('findRivals', () => {
  test('S1: a branch cannot stand beside itself, below or above another', async () => {
    const repo = testRepo()
    for (const name of ['a', 'b/c', 'b/d', 'bc']) repo.git('branch', name)
    const rivals = (name: string) => findRivals(placeOf(repo), name)
    expect(await rivals('a')).toEqual(['a'])
    expect(await rivals('a/x/y')).toEqual(['a'])
    expect(await rivals('b')).toEqual(['b/c', 'b/d'])
    expect(await rivals('b/c')).toEqual(['b/c'])
    expect(await rivals('b/x')).toEqual([])
    expect(await rivals('ab')).toEqual([])
  })
})

describe('readHeadBranch', () => {
  test('L10: the branch, also before its first commit; null when detached', async () => {
    const repo = testRepo()
    expect(await readHeadBranch(placeOf(repo))).toBe('main')
    repo.git('switch', '--quiet', '--orphan', 'größer/x')
    expect(await readHeadBranch(placeOf(repo))).toBe('größer/x')
    repo.git('switch', '--quiet', '--detach', 'main')
    expect(await readHeadBranch(placeOf(repo))).toBeNull()
  })
})

test('L5: there is no reflog message where there is no log', async () => {
  const repo = testRepo()
  symlinkSync('nowhere', path.join(repo.dir, '.git/logs/refs/heads/link'))
  expect(await findReflogMessage(placeOf(repo), 'refs/heads/none')).toBeUndefined()
  expect(await findReflogMessage(placeOf(repo), 'refs/heads/link')).toBeUndefined()
})
