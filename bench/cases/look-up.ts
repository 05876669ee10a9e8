/** Looking one task up, which must not start git. */
import { library } from '../built.ts'
import type { CountedCase } from '../case.ts'
import { gitCounter } from '../git-counter.ts'

/** Counts the git processes that looking one task up by its id takes. */
export function lookUp(files: number): CountedCase {
  return {
    kind: 'counted',
    name: 'look-up by id',
    files,
    unit: 'git',
    bar: 0,
    async count(repos) {
      const repo = await repos.repo(files, 'look-up')
      const { openRepo } = await library()
      const counter = gitCounter(repo)
      const starting = openRepo(repo.dir, { env: counter.env })
      await starting.start({ task: 'T1' })
      // Closing waits for background work, so that its gits are not counted for the look-up.
      await starting.close()
      const handle = openRepo(repo.dir, { env: counter.env })
      try {
        const before = counter.read()
        if (before === 0) throw new Error('The counter does not count: start must have called git.')
        if ((await handle.find('T1'))?.id !== 'T1') throw new Error('The task was not found.')
        return counter.read() - before
      } finally {
        await handle.close()
      }
    },
  }
}
