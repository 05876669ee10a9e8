/** R7: of many tasks some are damaged, in every way; doctor names them all, and repair mends what can be. */
import { expect } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import type { Task } from '../../src/core/model/task.ts'
import { damages, manyTasks, pictureOf } from './damage.ts'
import { fingerprint } from './fingerprint.ts'
import { testRepo, type TestRepo } from './repo.ts'
import { library, once, withEnv } from './workspace.ts'

/** `count` tasks, of which every `every`th is damaged. */
export async function repairsAll(count: number, every: number, folder?: string): Promise<void> {
  const user = withEnv(testRepo(undefined, folder), {
    OFFSHOOT_LIMITS_PER_REPO: String(count),
    OFFSHOOT_POOL_SIZE: '0',
  })
  await manyTasks(user, count, every)
  const tasks = await readTasks(user)
  expect(tasks).toHaveLength(count)
  const users = fingerprint(user)
  const before = new Map(tasks.map((task) => [task.uid, pictureOf(user, task)]))

  const hurt = tasks.filter(({ checkpoints }) => checkpoints > 0)
  expect(hurt).toHaveLength(count / every)
  const how = new Map(hurt.map((task, n) => [task.id, damages[n % damages.length]!]))
  expect(new Set(how.values()).size).toBe(damages.length)
  for (const task of hurt) how.get(task.id)?.inflict(user, task)
  const damaged = new Map(tasks.map((task) => [task.uid, pictureOf(user, task)]))

  const named = async () => {
    const found = await once(user, (repo) => repo.doctor())
    const checks = found.filter(({ status }) => status !== 'ok')
    for (const check of checks) expect(check.hint, check.name).not.toBe('')
    return new Set(checks.map(({ name }) => name.replace(/^task /, '')))
  }
  expect(await named()).toEqual(new Set(how.keys()))
  // Looking mends nothing.
  for (const task of tasks) expect(pictureOf(user, task)).toEqual(damaged.get(task.uid))

  const { left } = await once(user, (repo) => repo.repair())
  const hopeless = [...how].filter(([, { mendable }]) => !mendable).map(([id]) => id)
  const ids = (told: readonly { name: string }[]) =>
    new Set(told.map(({ name }) => name.replace(/^task /, '')))
  expect(ids(left)).toEqual(new Set(hopeless))
  expect(await named()).toEqual(new Set(hopeless))

  for (const task of tasks) {
    const now = pictureOf(user, task)
    if (!how.has(task.id)) expect(now, task.id).toEqual(before.get(task.uid))
    else
      expect(contentOf(now), `${task.id}: ${how.get(task.id)?.name}`).toEqual(contentOf(before.get(task.uid)))
  }
  expect(fingerprint(user)).toEqual(users)
  const again = library(user)
  for (const task of hurt.filter(({ id }) => how.get(id)?.mendable).slice(0, 20)) {
    expect(await again.log(task.id), task.id).toHaveLength(1)
    expect(await again.show(task.id)).toMatchObject({ dirty: false })
  }
  await again.close()
}

async function readTasks(user: TestRepo): Promise<Task[]> {
  const ports = compose({ env: user.env })
  const tasks = (await ports.store.readTasks({})).toReversed()
  void ports.close()
  return tasks
}

/** The agent's files and the steps: what git notes of times and looks is made anew. */
function contentOf(picture: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(picture).filter(([name]) => /^(workspace|steps)/.test(name))
  return Object.fromEntries(kept)
}
