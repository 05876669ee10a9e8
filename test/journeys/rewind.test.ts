import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { openAround } from '../support/open-around.ts'
import { atEffect } from '../support/at-effect.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

/** A task with two steps, and changes that are in none yet. */
async function worked() {
  const repo = testRepo(undefined, quickFolder())
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  const at = inFolder(repo, task.path)
  at.write('a.txt', 'step 1\n')
  at.write('sub/b.txt', 'step 1\n')
  await lib.checkpoint({ task: 'T1' })
  at.write('a.txt', 'step 2\n')
  await lib.checkpoint({ task: 'T1' })
  return { repo, lib, folder: task.path, at }
}

const text = (...parts: string[]) => readFileSync(path.join(...parts), 'utf8')

describe('P4.4: a rewind follows no link', () => {
  test('P4.4: a link in the place of a folder or a file is replaced, and what it leads to stays as it is', async () => {
    const { repo, lib, folder } = await worked()
    const outside = path.join(repo.home, 'outside')
    mkdirSync(outside)
    for (const name of ['a.txt', 'b.txt']) writeFileSync(path.join(outside, name), 'mine\n')
    rmSync(path.join(folder, 'sub'), { recursive: true })
    symlinkSync(outside, path.join(folder, 'sub'))
    rmSync(path.join(folder, 'a.txt'))
    symlinkSync(path.join(outside, 'a.txt'), path.join(folder, 'a.txt'))
    await lib.rewind({ task: 'T1', to: 1 })
    expect([text(outside, 'a.txt'), text(outside, 'b.txt')]).toEqual(['mine\n', 'mine\n'])
    expect(lstatSync(path.join(folder, 'sub')).isDirectory()).toBe(true)
    expect(lstatSync(path.join(folder, 'a.txt')).isFile()).toBe(true)
    expect([text(folder, 'a.txt'), text(folder, 'sub/b.txt')]).toEqual(['step 1\n', 'step 1\n'])
  })

  test('P4.4: nor does one that takes a file away', async () => {
    const { repo, lib, folder } = await worked()
    const outside = path.join(repo.home, 'outside')
    mkdirSync(outside)
    writeFileSync(path.join(outside, 'b.txt'), 'mine\n')
    rmSync(path.join(folder, 'sub'), { recursive: true })
    symlinkSync(outside, path.join(folder, 'sub'))
    await lib.rewind({ task: 'T1', to: 0 })
    expect(existsSync(path.join(folder, 'sub'))).toBe(false)
    expect(text(outside, 'b.txt')).toBe('mine\n')
  })
})

test('S3: a rewind that is cancelled at any of its effects is done or not begun, and the next one works', async () => {
  const { repo, lib, folder, at } = await worked()
  const outcomes: string[] = []
  // From some effect on it is too late to cancel.
  for (let n = 1; outcomes.slice(-4).join() !== 'done,done,done,done'; n++) {
    at.write('c.txt', `in no step yet: ${n}\n`)
    const cancel = new AbortController()
    const { around } = atEffect(n, () => cancel.abort())
    const opened = openAround(repo.dir, { env: repo.env, around })
    const code: string = await opened.rewind({ task: 'T1', to: 1 }, { signal: cancel.signal }).then(
      () => 'done',
      (error) => error.code,
    )
    await opened.close()
    outcomes.push(code)
    const now = [text(folder, 'a.txt'), existsSync(path.join(folder, 'c.txt'))]
    expect([n, code, now]).toEqual(
      code === 'done' ? [n, code, ['step 1\n', false]] : [n, 'WT_021', ['step 2\n', true]],
    )
    await lib.rewind({ task: 'T1', to: 2 })
  }
  expect(outcomes.filter((code) => code !== 'done').length).toBeGreaterThan(3)
  const steps = (await lib.log('T1')).map((step) => step.n)
  expect(steps).toEqual(steps.map((_, index) => index + 1))
})

test('P2.6: a step whose event was lost gets it with the next step', async () => {
  const repo = testRepo()
  const { task } = await library(repo).start({ task: 'T1' })
  const at = inFolder(repo, task.path)
  at.write('one.txt', '1\n')
  let lost = 0
  const losing = library(repo, {
    around: {
      store: (store) => ({
        ...store,
        async append(change) {
          if (change.entries.some(({ type }) => type === 'checkpoint')) {
            lost++
            throw new Error('the disk is gone')
          }
          return store.append(change)
        },
      }),
    },
  })
  await expect(losing.checkpoint({ task: 'T1' })).rejects.toMatchObject({})
  expect(lost).toBe(1)
  const lib = library(repo)
  const known = async () =>
    (await lib.audit({ task: 'T1' })).filter(({ what }) => what === 'checkpoint').map(({ detail }) => detail)
  expect(await known()).toEqual([])
  at.write('two.txt', '2\n')
  expect((await lib.checkpoint({ task: 'T1', tool: 'Edit' })).checkpoint).toMatchObject({
    n: 2,
    files: [{ path: 'two.txt' }],
  })
  expect(await known()).toEqual([expect.stringMatching(/^step 1: /), expect.stringMatching(/^step 2: Edit/)])
  expect(await lib.show('T1')).toMatchObject({ checkpoints: 2, files: 2 })
})
