/** The whole `offshoot list` process, as a user waits for it. */
import { bin } from '../built.ts'
import type { TimedCase } from '../case.ts'
import type { Side } from '../measure.ts'
import { putRecords } from '../records.ts'
import { run } from '../spawn.ts'
import type { BenchRepos } from '../bench-repos.ts'

const files = 52

export function listAgainstNode(tasks: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `list of ${tasks} : node -e 0`,
    files,
    bar,
    prepare: async (repos) => ({ ours: await listing(repos, tasks), raw: await bareNode(repos) }),
  }
}

export function listGrowth(many: number, few: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `list of ${many} : list of ${few}`,
    files,
    bar,
    prepare: async (repos) => ({ ours: await listing(repos, many), raw: await listing(repos, few) }),
  }
}

async function listing(repos: BenchRepos, tasks: number): Promise<Side> {
  const repo = await repos.repo(files, `records-${tasks}`)
  await putRecords(repo, tasks)
  const list = () => run(process.execPath, [bin, 'list'], { cwd: repo.dir, env: repo.env })
  const printed = (await list()).match(/TASK-/g)?.length
  if (printed === undefined || printed < tasks) throw new Error(`list printed ${printed} of ${tasks} tasks`)
  return { run: list }
}

async function bareNode(repos: BenchRepos): Promise<Side> {
  const { dir, env } = await repos.repo(files)
  return { run: () => run(process.execPath, ['-e', '0'], { cwd: dir, env }) }
}
