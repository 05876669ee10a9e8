/** The common beginning of the verbs: which check refuses first, and when a step is taken. */
import { renameSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { type Needs, withFound, withTask } from '../../src/core/steps/with-task.ts'
import { AppError } from '../../src/index.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

/** A task with a change that no step holds. */
async function changed() {
  const repo = testRepo(undefined, quickFolder())
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  inFolder(repo, task.path).write('a.txt', 'changed\n')
  const ports = compose({ env: repo.env })
  onTestFinished(() => ports.close())
  const begin = (needs: Needs) =>
    withTask(ports, { dir: repo.dir, task: 'T1', verb: 'test', needs }, async (work) => work.task)
  const summaries = async () => (await lib.log('T1')).map(({ summary }) => summary)
  return { repo, lib, ports, folder: task.path, begin, summaries }
}

const refuse = (message: string) => () => {
  throw new AppError('policyRefused', message, { hint: 'Do not.' })
}

test('the work gets the task with the step that was taken before it', async () => {
  const { begin, summaries } = await changed()
  const task = await begin({ state: 'open', checks: ['idle', 'workspace'], step: 'before the test' })
  expect(task.checkpoints).toBe(1)
  expect(await summaries()).toContain('before the test')
})

test('the first check that fails is the error, and no step is taken', async () => {
  const { begin, folder, summaries } = await changed()
  const own = refuse('no test today')
  renameSync(folder, `${folder}-away`)
  const step = 'before the test'
  await expect(begin({ state: 'open', checks: [own, 'workspace'], step })).rejects.toThrow('no test today')
  await expect(begin({ state: 'open', checks: ['workspace', own], step })).rejects.toThrow('is gone')
  renameSync(`${folder}-away`, folder)
  await expect(begin({ state: 'open', checks: ['workspace', own], step })).rejects.toThrow('no test today')
  expect(await summaries()).not.toContain(step)
})

test('while an agent is at work only a verb that needs no idle task begins', async () => {
  const { lib, begin } = await changed()
  await lib.task('T1').run('agent', async () => {
    await expect(begin({ state: 'open', checks: ['idle'] })).rejects.toMatchObject({ code: 'WT_012' })
    expect((await begin({ state: 'open', checks: ['workspace'] })).id).toBe('T1')
  })
})

test('a sweep keeps what is in the folder, and does without one that is gone', async () => {
  const { begin, folder, summaries } = await changed()
  const needs: Needs = { state: 'open', checks: ['onBranch'], sweep: 'before the end' }
  renameSync(folder, `${folder}-away`)
  expect((await begin(needs)).checkpoints).toBe(0)
  renameSync(`${folder}-away`, folder)
  expect((await begin(needs)).checkpoints).toBe(1)
  expect(await summaries()).toContain('before the end')
})

test('a closed task is read again under the lock: refused as open, taken as any', async () => {
  const { repo, lib, ports, begin } = await changed()
  const record = await ports.repos.findAt((await ports.locate(repo.dir)).commonDir)
  const found = { ...record!, place: await ports.locate(repo.dir) }
  const [task] = await ports.store.readTasks({ open: true })
  await lib.reject({ task: 'T1' })
  await expect(begin({ state: 'open', checks: [] })).rejects.toMatchObject({ problem: 'noSuchTask' })
  const needs: Needs = { state: 'any', checks: ['idle', 'onBranch', 'unmoved'], sweep: 'before the end' }
  const seen = await withFound(
    { ports, repo: found, task: task! },
    { verb: 'test', needs },
    async (work) => work.task,
  )
  expect([task!.state, seen.state]).toEqual(['active', 'rejected'])
})
