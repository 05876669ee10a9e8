/** A worktree for each task, under the ids by which it was asked for: many at once. */
import { describe, expect, test } from 'vitest'
import { type Outcome, offshoot, testRepo } from '../../support/repo.ts'
import { branches, library, linkedWorktrees, withEnv } from '../../support/workspace.ts'
import { everything, complaints } from './shared.ts'

describe('many at once', () => {
  const answers = (ended: readonly Outcome[]) => ended.map(({ code, json }) => json?.error?.code ?? code)

  test('NFR-007, AC-017, IT-007: 20 creations at the same time, from processes of their own, do not meet', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '20' })
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => offshoot(repo, 'start', `T${n}`, '--json')),
    )
    expect(answers(made)).toEqual(Array.from({ length: 20 }, () => 0))
    const paths = made.map(({ json }) => json.task.path as string)
    expect(new Set(paths).size).toBe(20)
    expect(new Set(linkedWorktrees(repo).map((worktree) => worktree.path))).toEqual(new Set(paths))
    expect(branches(repo)).toHaveLength(21)
    repo.git('fsck', '--strict')
  })
  test('NFR-008, AC-018, AC-020: removals and creations of one task at the same time take their turns', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        n % 2 === 0
          ? offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')
          : offshoot(repo, 'start', 'T1', '--json'),
      ),
    )
    expect(answers(ended)).toEqual([0, 0, 0, 0, 0, 0])
    const removed = ended.filter(({ json }) => json.removed).length
    const made = ended.filter(({ json }) => json.reused === false).length
    const left = await everything(repo)
    // The first was made before.
    expect(left.tasks).toHaveLength(1 + made - removed)
    expect(left.worktrees).toEqual((await library(repo).list()).map((task) => task.path))
    expect(left.folders).toEqual(left.worktrees)
    expect(await complaints(repo)).toEqual([])
  })
  test('AC-019: under load nobody waits for ever: verbs of 12 processes on the same tasks all end, in order', async () => {
    const repo = testRepo()
    const tasks = ['T1', 'T2', 'T3']
    const round = () =>
      Promise.all([
        ...tasks.flatMap((task) => [
          offshoot(repo, 'start', task, '--json'),
          offshoot(repo, 'checkpoint', task, '--json'),
          offshoot(repo, 'worktree', 'remove', '--task', task, '--json'),
        ]),
        ...tasks.map(() => offshoot(repo, 'prune', '--older-than', '0m', '--json')),
      ])
    const first = await round()
    for (const task of tasks) await offshoot(repo, 'start', task)
    // Somebody else is at work, or the task is not there: no other answer is fine.
    for (const { code, json, stderr } of [...first, ...(await round())])
      expect([0, 'WT_012', 'WT_007'], stderr).toContain(json?.error?.code ?? code)
    const left = await everything(repo)
    expect(left.worktrees.toSorted()).toEqual(
      (await library(repo).list()).map((task) => task.path).toSorted(),
    )
    expect(await library(repo).doctor()).toContainEqual(
      expect.objectContaining({ name: 'tasks', status: 'ok' }),
    )
  })
})
