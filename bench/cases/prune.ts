/** `prune` of many workspaces, against `git worktree remove` of each (docs/adr/0021-prune-in-batches.md). */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { library } from '../built.ts'
import type { TimedCase } from '../case.ts'
import { newName } from '../folders.ts'
import { run } from '../spawn.ts'

export function prune(workspaces: number, files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `prune of ${workspaces} : worktree remove`,
    files,
    bar,
    async prepare(repos) {
      const repo = await repos.repo(files, 'prune')
      const { openRepo } = await library()
      const env = { ...repo.env, OFFSHOOT_LIMITS_PER_REPO: '1000', OFFSHOOT_PRUNE_MIN_KEEP: '0' }
      const handle = openRepo(repo.dir, { env })
      const folder = path.join(path.dirname(repo.dir), 'raw')
      await mkdir(folder, { recursive: true })
      const at = { cwd: repo.dir, env: repo.env }
      const names = Array.from({ length: workspaces }, (_, n) => `${newName('w')}-${n}`)
      const place = (name: string) => path.join(folder, name)
      const operations: string[] = []
      const undoAll = async () => {
        for (const operation of operations.splice(0)) await handle.undo(operation)
        await repos.settle()
      }
      for (const task of names) await handle.start({ task })
      return {
        ours: {
          run: async () => {
            const { removed } = await handle.prune({ olderThanMs: 0 })
            operations.push(...removed.map(({ operation }) => operation))
            if (removed.length !== workspaces) throw new Error(`${removed.length} of ${workspaces} went.`)
          },
          // Undoes every prune: the case includes that each can be undone.
          after: undoAll,
        },
        raw: {
          before: async () => {
            for (const name of names) await run('git', ['worktree', 'add', '--detach', place(name)], at)
            await repos.settle()
          },
          run: async () => {
            for (const name of names) await run('git', ['worktree', 'remove', place(name)], at)
          },
          after: repos.settle,
        },
        close: () => handle.close(),
      }
    },
  }
}
