/**
 * Recovery with nothing to recover, which comes before every command that writes. The case times the shortest such
 * command from the moment it opens the records: a removal that is refused because there is no such task.
 */
import { library } from '../built.ts'
import type { CountedCase } from '../case.ts'
import { gitCounter } from '../git-counter.ts'
import { putRecords } from '../records.ts'
import type { BenchRepo } from '../repos.ts'
import type { BenchRepos } from '../bench-repos.ts'

const files = 52
const rounds = 41

/** The median in milliseconds. */
export function recoverNothing(tasks: number, bar: number): CountedCase {
  return {
    kind: 'counted',
    name: `recover nothing, ${tasks} tasks`,
    files,
    unit: 'ms',
    bar,
    async count(repos) {
      const repo = await recorded(repos, tasks)
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await refused(repo, repo.env))
      return Math.round((times.sort((a, b) => a - b)[rounds >> 1] ?? 0) * 10) / 10
    },
  }
}

/** Counts the git processes of that recovery. */
export function recoverWithoutGit(tasks: number): CountedCase {
  return {
    kind: 'counted',
    name: `recover nothing, ${tasks} tasks`,
    files,
    unit: 'git',
    bar: 0,
    async count(repos) {
      const repo = await recorded(repos, tasks)
      const counter = gitCounter(repo)
      await refused(repo, counter.env)
      return counter.read()
    },
  }
}

const prepared = new Map<BenchRepos, Promise<BenchRepo>>()

function recorded(repos: BenchRepos, tasks: number): Promise<BenchRepo> {
  const made = async () => {
    const repo = await repos.repo(files, 'recover')
    await putRecords(repo, tasks)
    return repo
  }
  const known = prepared.get(repos) ?? made()
  prepared.set(repos, known)
  return known
}

async function refused(repo: BenchRepo, env: NodeJS.ProcessEnv): Promise<number> {
  const { openRepo } = await library()
  const begun = performance.now()
  const handle = openRepo(repo.dir, { env })
  const code = await handle.remove({ task: 'nobody' }).then(
    () => 'removed',
    (error: { code?: string }) => error.code,
  )
  const time = performance.now() - begun
  await handle.close()
  if (code !== 'WT_007') throw new Error(`The removal was not refused: ${code}`)
  return time
}
