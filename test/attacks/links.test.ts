/** H6: somebody puts links in the place of folders while we write, read or delete below them. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AppError } from '../../src/core/model/errors.ts'
import { attackSeconds, exchanger, missingForExchange, repeatedly } from '../support/exchange.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

const missing = missingForExchange()
if (missing) console.log(`skipped: the attacks on links need ${missing}`)

const timeout = (attackSeconds + 120) * 1000
const names = (count: number) => Array.from({ length: count }, (_, n) => `f${n}`)
const write = (folder: string, count: number, text: string) => {
  mkdirSync(folder, { recursive: true })
  for (const name of names(count)) writeFileSync(path.join(folder, name), text)
}

/** A folder that nothing of ours may reach, and a link to it. */
function outsideOf(home: string, link: string): string {
  const outside = path.join(home, 'outside')
  mkdirSync(outside)
  symlinkSync(outside, link)
  return outside
}

/** Gives the folder its own name back, whichever of the two has it when the exchanging ends. */
function settle(folder: string, link: string): void {
  if (!lstatSync(folder).isSymbolicLink()) return
  renameSync(folder, `${folder}.tmp`)
  renameSync(link, folder)
  renameSync(`${folder}.tmp`, link)
}

describe.skipIf(missing)('H6: links in the place of folders', () => {
  test(
    'H6a: a rewind writes nothing through a link that takes the place of a folder meanwhile',
    async () => {
      const repo = testRepo(undefined, quickFolder())
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1' })
      const [folder, link] = [path.join(task.path, 'dir'), path.join(repo.home, 'link')]
      const outside = outsideOf(repo.home, link)
      write(folder, 500, 'of the agent\n')
      await lib.checkpoint({ task: 'T1' })
      const { during } = exchanger()
      await repeatedly(async (round) => {
        rmSync(folder, { recursive: true })
        inFolder(repo, task.path).write('other.txt', `round ${round}\n`)
        await lib.checkpoint({ task: 'T1' })
        // What it answers is no matter here: it may notice the exchange, or not.
        await during(5, folder, link, () => lib.rewind({ task: 'T1', to: 1 }).catch(() => {}))
        settle(folder, link)
        expect(readdirSync(outside)).toEqual([])
      })
      await lib.rewind({ task: 'T1', to: 1 })
      expect(readdirSync(folder).toSorted()).toEqual(names(500).toSorted())
      expect(readdirSync(outside)).toEqual([])
    },
    timeout,
  )

  test('H6a: a rewind whose folder is moved away for good fails, and the next command goes on with it', async () => {
    const repo = testRepo(undefined, quickFolder())
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const [folder, moved] = [path.join(task.path, 'dir'), path.join(task.path, 'moved')]
    const outside = path.join(repo.home, 'outside')
    mkdirSync(outside)
    write(folder, 500, 'of the agent\n')
    await lib.checkpoint({ task: 'T1' })
    rmSync(folder, { recursive: true })
    await lib.checkpoint({ task: 'T1' })
    const rewound = exchanger().onceDuring(5, { one: folder, other: moved, outside }, () =>
      lib.rewind({ task: 'T1', to: 1 }),
    )
    await expect(rewound).rejects.toMatchObject({
      code: 'WT_011',
      hint: expect.stringContaining('The next command that writes goes on with it.'),
    })
    expect(readdirSync(outside)).toEqual([])
    await lib.recover()
    expect(readdirSync(folder).toSorted()).toEqual(names(500).toSorted())
    expect(readdirSync(outside)).toEqual([])
  })

  test(
    'H6b: prune deletes nothing behind a link that takes the place of a folder meanwhile',
    async () => {
      const repo = testRepo(undefined, quickFolder())
      const lib = library(repo, { flags: { trash: { keepDays: 0 } } })
      const link = path.join(repo.home, 'link')
      const outside = outsideOf(repo.home, link)
      write(outside, 1_200, 'of the user\n')
      const { during } = exchanger()
      await repeatedly(async (round) => {
        const { task } = await lib.start({ task: `T${round}` })
        write(path.join(task.path, 'dir'), 1_200, 'of the agent\n')
        await lib.reject({ task: task.id })
        const folder = findFolder(path.dirname(task.path), 'dir')
        await during(0, folder, link, () => lib.prune().catch(() => {}))
        expect(readdirSync(outside)).toHaveLength(1_200)
        for (const left of [folder, link]) rmSync(left, { recursive: true, force: true })
        symlinkSync(outside, link)
        await lib.prune()
        expect(existsSync(folder)).toBe(false)
      })
      expect(readdirSync(outside)).toHaveLength(1_200)
    },
    timeout,
  )

  test(
    'H6c: an accept lands nothing behind a link, all of its files or none, and says truly which',
    async () => {
      const repo = testRepo({ 'a.txt': 'one\n', 'dir/here': 'one\n' }, quickFolder())
      const [folder, link] = [path.join(repo.dir, 'dir'), path.join(repo.home, 'link')]
      const outside = outsideOf(repo.home, link)
      const lib = library(repo)
      const { during } = exchanger()
      await repeatedly(async (round) => {
        const { task } = await lib.start({ task: `T${round}` })
        write(path.join(task.path, 'dir'), 1_000, `of the agent, round ${round}\n`)
        const before = readdirSync(folder).length
        const accepted = await during(before + 5, folder, link, () =>
          lib.accept({ task: task.id }).then(
            () => undefined,
            (thrown: AppError) => thrown,
          ),
        )
        settle(folder, link)
        expect(readdirSync(outside)).toEqual([])
        const hint = accepted?.hint ?? 'Landed.'
        if (hint.includes('Nothing was changed.')) expect(readdirSync(folder)).toEqual(['here'])
        else if (accepted) expect(hint).toContain('The next command that writes goes on with it.')
        await lib.recover()
        if (hint.includes('Nothing was changed.')) await lib.accept({ task: task.id })
        expect(readdirSync(folder)).toHaveLength(1_001)
        expect(readFileSync(path.join(folder, 'f999'), 'utf8')).toBe(`of the agent, round ${round}\n`)
        await lib.undo()
        expect(readdirSync(folder)).toEqual(['here'])
        await lib.reject({ task: task.id })
      })
      expect(readdirSync(outside)).toEqual([])
    },
    timeout,
  )

  test(
    'P4.4: a step holds nothing of what a link leads to that takes the place of a folder meanwhile',
    async () => {
      const repo = testRepo(undefined, quickFolder())
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1' })
      const [folder, link] = [path.join(task.path, 'dir'), path.join(repo.home, 'link')]
      const outside = outsideOf(repo.home, link)
      write(outside, 300, 'secret of the user\n')
      write(folder, 300, 'of the agent\n')
      const { during } = exchanger()
      await repeatedly(async (round) => {
        write(folder, 300, `of the agent, round ${round}\n`)
        await during(0, folder, link, () => lib.checkpoint({ task: 'T1' }).catch(() => {}))
        settle(folder, link)
      })
      const secret = repo.git('hash-object', path.join(outside, 'f0')).trim()
      const [vault = ''] = readdirSync(path.join(repo.home, 'state/vaults'))
      const all = [
        '--git-dir',
        path.join(repo.home, 'state/vaults', vault),
        'cat-file',
        '--batch-all-objects',
      ]
      const held = repo.git(...all, '--batch-check=%(objectname)').split('\n')
      expect(held.length).toBeGreaterThan(3)
      expect(held).not.toContain(secret)
    },
    timeout,
  )
})

describe.skipIf(missing)('Low: paths that are too long for a system call', () => {
  const name = 'x'.repeat(200)

  test('K5: a folder whose path is too long is listed, and the other files are in the step', async () => {
    const { lib, task } = await withDeep(name)
    writeFileSync(path.join(task.path, 'a.txt'), 'changed\n')
    const { checkpoint } = await lib.checkpoint({ task: 'T1' })
    expect(checkpoint.files).toEqual([{ path: 'a.txt', status: 'modified' }])
    expect(checkpoint.skipped).toEqual([
      { path: expect.stringContaining(`deep/${name}/`), why: 'unreadable' },
    ])
    await lib.reject({ task: 'T1' })
    await lib.prune()
  })

  test('I9: it is counted, and prune deletes it', async () => {
    const { repo, lib, task } = await withDeep(name)
    const [workspace] = (await lib.disk()).workspaces
    // One block for each of its folders, at least.
    expect(workspace?.bytes).toBeGreaterThan(0)
    await lib.reject({ task: 'T1' })
    await lib.prune()
    expect(readdirSync(path.join(path.dirname(task.path), '.trash'))).toEqual([])
    expect((await lib.disk()).trash).toBeLessThan(workspace?.bytes ?? 0)
    expect(existsSync(repo.dir)).toBe(true)
  })

  test('prune deletes a tree of 2,000 levels, which cannot all be held open', async () => {
    const { lib, task } = await withDeep('y', 2_000)
    await lib.reject({ task: 'T1' })
    await lib.prune()
    expect(readdirSync(path.join(path.dirname(task.path), '.trash'))).toEqual([])
  })
})

async function withDeep(name: string, levels = 50) {
  const repo = testRepo(undefined, quickFolder())
  const lib = library(repo, { flags: { trash: { keepDays: 0 } } })
  const { task } = await lib.start({ task: 'T1' })
  mkdirSync(path.join(task.path, 'deep'))
  exchanger().makeDeep(path.join(task.path, 'deep'), levels, name)
  return { repo, lib, task }
}

/** The only folder of that name below another one. */
function findFolder(below: string, name: string): string {
  const found = readdirSync(below, { recursive: true, withFileTypes: true }).find(
    (entry) => entry.name === name && entry.isDirectory(),
  )
  return path.join(found?.parentPath ?? '', found?.name ?? '')
}
