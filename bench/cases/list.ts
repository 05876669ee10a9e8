/** The whole `offshoot list` process, as a user waits for it. */
import { bin } from '../built.ts'
import type { TimedCase } from '../case.ts'
import type { Side } from '../measure.ts'
import { putRecords } from '../records.ts'
import { run } from '../spawn.ts'
import type { World } from '../bench-repos.ts'

const files = 52

export function listAgainstNode(tasks: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `list of ${tasks} : node -e 0`,
    files,
    bar,
    prepare: async (world) => ({ ours: await listing(world, tasks), raw: await bareNode(world) }),
  }
}

export function listGrowth(many: number, few: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `list of ${many} : list of ${few}`,
    files,
    bar,
    prepare: async (world) => ({ ours: await listing(world, many), raw: await listing(world, few) }),
  }
}

async function listing(world: World, tasks: number): Promise<Side> {
  const repo = await world.repo(files, `records-${tasks}`)
  await putRecords(repo, tasks)
  const list = () => run(process.execPath, [bin, 'list'], { cwd: repo.dir, env: repo.env })
  const printed = (await list()).match(/TASK-/g)?.length
  if (printed === undefined || printed < tasks) throw new Error(`list printed ${printed} of ${tasks} tasks`)
  return { run: list }
}

async function bareNode(world: World): Promise<Side> {
  const { dir, env } = await world.repo(files)
  return { run: () => run(process.execPath, ['-e', '0'], { cwd: dir, env }) }
}
