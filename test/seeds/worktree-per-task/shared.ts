/** What the chapters about a worktree for each task have in common. */
import { expect } from 'vitest'
import { compose } from '../../../src/compose/full.ts'
import { testClock } from '../../support/clock.ts'
import { type TestRepo } from '../../support/repo.ts'
import { branches, linkedWorktrees, once, ownRefs, workspaceFolders } from '../../support/workspace.ts'

export const old = { olderThanMs: 0 }
export const all = { prune: { minKeep: 0 } }
export const names = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id)
export const ids = (told: readonly { task: { id: string } }[]) => told.map(({ task }) => task.id)

export interface Told {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly path?: string
}

/** Fails with that code, and says what to do. */
export async function refused(work: Promise<unknown>, code: string): Promise<Told> {
  const error = await work.then(
    () => expect.fail(`${code} was expected`),
    (thrown: Told) => thrown,
  )
  expect(error.code).toBe(code)
  expect(error.message).not.toBe('')
  expect(error.hint).not.toBe('')
  return error
}

/** All that there is of tasks. */
export async function everything(repo: TestRepo) {
  return {
    worktrees: linkedWorktrees(repo).map((worktree) => worktree.path),
    branches: branches(repo).filter((name) => name !== 'main'),
    refs: ownRefs(repo).filter((ref) => !/^refs\/offshoot\/(repo$|trash\/)/.test(ref)),
    folders: workspaceFolders(repo),
    tasks: names(await once(repo, (lib) => lib.list())),
  }
}

export const nothing = { worktrees: [], branches: [], refs: [], folders: [], tasks: [] }

/** What doctor has to say of tasks, where that is anything. */
export const complaints = async (repo: TestRepo) =>
  (await once(repo, (lib) => lib.doctor())).filter(({ status }) => status !== 'ok')

/** Some verb, as of a time to come. */
export async function later<T>(
  repo: TestRepo,
  days: number,
  verb: (ports: ReturnType<typeof compose>) => Promise<T>,
): Promise<T> {
  const ports = compose({ env: repo.env, clock: testClock(days) })
  try {
    return await verb(ports)
  } finally {
    await ports.close()
  }
}
