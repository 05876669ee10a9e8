/** Plays a history, and lands its tasks for real: what a forecast must say. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { OpenRepo } from '../../../src/index.ts'
import { readTree, writeTree } from '../accept/disk.ts'
import { edited, isIgnored } from '../accept/edits.ts'
import { type Tree, without } from '../accept/tree.ts'
import { rmSync } from 'node:fs'
import { quickFolder, type TestRepo, testRepo } from '../repo.ts'
import { openAround } from '../open-around.ts'
import type { History } from './history.ts'

const run = promisify(execFile)

export interface Played {
  readonly user: TestRepo
  readonly lib: OpenRepo
  /** The open tasks, in the order of their age. */
  readonly tasks: readonly PlayedTask[]
  git(...args: string[]): Promise<string>
}

interface PlayedTask {
  readonly id: string
  /** The commit that it was started from; undefined when it began with more than that. */
  readonly base: string | undefined
}

/** Sorted `path (kind)`; none when it landed. */
export type Outcome = readonly string[]

/** Plays the history, and takes everything away when the work has ended. */
export async function withPlayed(history: History, work: (played: Played) => Promise<void>): Promise<void> {
  const user = testRepo({}, quickFolder())
  const lib = openAround(user.dir, { env: user.env, background: false })
  try {
    await work(await play(history, user, lib))
  } finally {
    await lib.close()
    rmSync(user.home, { recursive: true, force: true })
  }
}

async function play(history: History, user: TestRepo, lib: OpenRepo): Promise<Played> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: user.dir, env: user.env })).stdout
  let there: Tree = new Map()
  const write = (tree: Tree) => {
    writeTree(user.dir, there, tree)
    there = tree
  }
  const commit = async (tree: Tree) => {
    write(tree)
    await git('add', '--all')
    await git('commit', '--quiet', '--allow-empty', '--message=More')
  }
  await commit(history.base)
  const tasks: PlayedTask[] = []
  for (const [n, { before, steps, dirty, turn }] of history.tasks.entries()) {
    if (before.length > 0) await commit(edited(there, `usr${n}`, before))
    const committed = there
    if (dirty) write(edited(there, `dir${n}`, history.user.loose))
    const { task } = await lib.start({ task: `T${n + 1}`, dirty })
    if (dirty) write(committed)
    let now = without(readTree(task.path), (file) => isIgnored(file))
    for (const step of steps) {
      const next = edited(now, `agn${n}`, step)
      writeTree(task.path, now, next)
      now = next
      await lib.checkpoint({ task: task.id })
    }
    const isTurned = await take(lib, task.id, turn)
    there = readTree(user.dir)
    const { state } = (await lib.find(task.id)) ?? { state: 'accepted' }
    if (state === 'accepted') continue
    tasks.push({ id: task.id, base: dirty || isTurned ? undefined : task.base.commit })
  }
  const { committed, rules, staged, loose } = history.user
  if (committed.length > 0) await commit(edited(there, 'usrA', committed))
  if (rules !== '' && !holds(there, '.gitattributes'))
    await commit(new Map([...there, ['.gitattributes', { mode: '100644', text: rules }]]))
  if (staged.length > 0) {
    write(edited(there, 'usrB', staged))
    await git('add', '--all')
  }
  write(edited(there, 'usrC', loose))
  return { user, lib, tasks, git }
}

/** Whether there is a file of that name, or a folder. */
function holds(tree: Tree, name: string): boolean {
  return Array.from(tree.keys()).some((file) => file === name || file.startsWith(`${name}/`))
}

/** Whether it went as it should: an update may conflict, and there may be no part to land. */
async function take(lib: OpenRepo, task: string, turn: History['tasks'][number]['turn']): Promise<boolean> {
  const steps = (await lib.find(task))?.checkpoints ?? 0
  try {
    if (turn === 'update') await lib.update({ task })
    if (turn === 'part' && steps > 0) await lib.accept({ task, steps: [1], keep: true })
    if (turn === 'rewind' && steps > 1) await lib.rewind({ task, to: 1 })
    return turn !== 'none'
  } catch {
    return false
  }
}

/** Lands these tasks one after the other, and answers what came of the last one; undefined when an earlier one did not land. */
export async function landAll(
  { lib }: Pick<Played, 'lib'>,
  tasks: readonly string[],
): Promise<Outcome | undefined> {
  const operations: string[] = []
  try {
    for (const [at, task] of tasks.entries()) {
      const { conflicts, operation } = await land(lib, task)
      if (operation !== undefined) operations.push(operation)
      if (at === tasks.length - 1) return conflicts
      if (conflicts.length > 0) return undefined
    }
    return undefined
  } finally {
    for (const operation of operations.reverse()) await lib.undo(operation)
  }
}

async function land(
  lib: OpenRepo,
  task: string,
): Promise<{ conflicts: Outcome; operation?: string | undefined }> {
  try {
    return { conflicts: [], operation: (await lib.accept({ task, as: 'patch' })).operation }
  } catch (thrown) {
    const { code, data } = thrown as { code: string; data: { conflicts: { path: string; kind: string }[] } }
    if (code !== 'WT_011') throw thrown
    return { conflicts: data.conflicts.length > 0 ? told(data.conflicts) : ['refused'] }
  }
}

export function told(conflicts: readonly { readonly path: string; readonly kind: string }[]): Outcome {
  return conflicts.map(({ path: file, kind }) => `${file} (${kind})`).sort()
}

let counter = 0

/** Runs the work with the library in a fresh checkout of the commit. */
export async function inCheckoutOf<T>(
  { user, git }: Played,
  commit: string,
  work: (there: Pick<Played, 'lib'>) => Promise<T>,
): Promise<T> {
  const dir = path.join(user.home, `checkout-${counter++}`)
  await git('worktree', 'add', '--quiet', '--detach', dir, commit)
  const lib = openAround(dir, { env: user.env, background: false })
  try {
    return await work({ lib })
  } finally {
    await lib.close()
    await git('worktree', 'remove', '--force', dir)
  }
}

/** Everything of the user's, to see that nothing has changed it. */
export async function stateOf({ user, git }: Played): Promise<string> {
  const files = [...readTree(user.dir)].map(([file, { mode, text }]) => `${file} ${mode} ${text}`)
  const refs = await git('for-each-ref', '--format=%(refname) %(objectname)')
  return [...files.sort(), await git('ls-files', '--stage'), refs].join('\n')
}
