/** `accept` as a patch and `reject`, against the git commands that a user would type instead. */
import { appendFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { library } from '../built.ts'
import type { TimedCase } from '../case.ts'
import { newName, spread } from '../folders.ts'
import { type BenchRepo, fileName } from '../repos.ts'
import { run } from '../spawn.ts'

/** Compares one file with `git status` and `git merge-tree`, which a careful user runs first; many files with `git diff | git apply`. */
export function accept(files: number, changed: number, bar: number): TimedCase {
  const yardstick = changed === 1 ? 'status + merge-tree' : 'diff | apply'
  return {
    kind: 'timed',
    name: `accept of ${changed} : ${yardstick}`,
    files,
    bar,
    async prepare(repos) {
      const repo = await repos.repo(files, 'accept')
      // `accept` stages its files in there first, so every round makes and deletes them again.
      await spread(path.join(repo.dir, '.git'))
      const names = Array.from({ length: changed }, (_, n) => fileName(n))
      const { handle, task, branch } = await worked(repo, names)
      const at = { cwd: repo.dir, env: repo.env }
      const raw = async () => {
        if (changed === 1) {
          await run('git', ['status', '--porcelain'], at)
          await run('git', ['merge-tree', '--write-tree', 'HEAD', branch], at)
        } else await run('sh', ['-c', `git diff --binary HEAD ${branch} | git apply`], at)
      }
      let operation: string | undefined
      return {
        ours: {
          run: async () => {
            operation = (await handle.accept({ task, keep: true })).operation
          },
          after: async () => {
            await handle.undo(operation)
            await repos.settle()
          },
        },
        raw: {
          run: raw,
          after: async () => {
            await run('git', ['checkout', '--quiet', '--', '.'], at)
            // As after ours: the first writes after a sync cost more, and would fall on one side more often.
            await repos.settle()
          },
        },
        close: async () => {
          await handle.remove({ task, force: true })
          await handle.close()
        },
      }
    },
  }
}

export function reject(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'reject : git worktree remove --force',
    files,
    bar,
    async prepare(repos) {
      const repo = await repos.repo(files)
      const { openRepo } = await library()
      const handle = openRepo(repo.dir, { env: repo.env })
      const folder = path.join(path.dirname(repo.dir), 'raw')
      await mkdir(folder, { recursive: true })
      const at = { cwd: repo.dir, env: repo.env }
      let task = ''
      let name = ''
      return {
        ours: {
          before: async () => {
            task = newName('task')
            const started = await handle.start({ task })
            await appendFile(path.join(started.task.path, fileName(0)), 'more\n')
            // Git must read files of the same second as the index to compare them; no user rejects that soon.
            await pause(2_100)
            await handle.checkpoint({ task })
          },
          run: () => handle.reject({ task }),
          after: repos.settle,
        },
        raw: {
          before: () => {
            name = newName('raw')
            return run('git', ['worktree', 'add', '-b', `raw/${name}`, path.join(folder, name)], at)
          },
          run: () => run('git', ['worktree', 'remove', '--force', path.join(folder, name)], at),
          after: repos.settle,
        },
        close: () => handle.close(),
      }
    },
  }
}

async function worked(repo: BenchRepo, names: readonly string[]) {
  const { openRepo } = await library()
  const handle = openRepo(repo.dir, { env: repo.env })
  const id = newName('task')
  const { task } = await handle.start({ task: id })
  for (const name of names) await appendFile(path.join(task.path, name), 'one more line\n')
  await handle.checkpoint({ task: id })
  return { handle, task: id, branch: task.branch }
}
