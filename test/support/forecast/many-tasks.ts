/** Many open tasks on many files, and what a forecast of them costs. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ComposeOptions } from '../../../src/compose/full.ts'
import { openAround } from '../open-around.ts'
import { recordSpans } from '../git-spans.ts'
import { quickFolder, type TestRepo, testRepo } from '../repo.ts'
import { lines } from '../worked.ts'

const fileName = (n: number) => `d${Math.floor(n / 50)}/f${n % 50}.txt`

export interface Cost {
  readonly merges: number
  readonly commands: readonly string[]
  readonly atOnce: number
  readonly ms: number
  readonly conflicts: number
  readonly pairs: number
}

/** `count` tasks of three files each: two of its own, and one that it shares with one other task. Every fourth such pair conflicts. */
export async function manyTasks(count: number, files: number) {
  const all = Object.fromEntries(
    Array.from({ length: files }, (_, n) => [fileName(n), lines({}, 30) + fileName(n)]),
  )
  const user = testRepo(all, quickFolder())
  const flags = { limits: { perRepo: count }, pool: { size: 0 } }
  const lib = openAround(user.dir, { env: user.env, background: false, flags })
  const edit = (folder: string, n: number, line: number, text: string) => {
    const file = path.join(folder, fileName(n))
    writeFileSync(file, readFileSync(file, 'utf8').replace(`line ${line}\n`, `${text}\n`))
  }
  for (let n = 0; n < count; n++) {
    const { task } = await lib.start({ task: `T${n}` })
    edit(task.path, 10 * n, 3, `task ${n}`)
    edit(task.path, 10 * n + 1, 3, `task ${n}`)
    const shared = 10 * (n - (n % 2)) + 5
    edit(task.path, shared, n % 8 < 2 ? 20 : n % 2 ? 10 : 20, `task ${n}`)
    await lib.checkpoint({ task: task.id })
    // Its files are in the vault: the forecast does not read the workspace.
    rmSync(task.path, { recursive: true, force: true })
  }
  await lib.close()
  // The target has moved on, in files of every fifth task, and so has the user, in files of every tenth.
  for (let n = 0; n < count; n += 5) edit(user.dir, 10 * n, 25, 'main')
  user.git('commit', '--quiet', '--all', '--message=Move on')
  for (let n = 0; n < count; n += 10) edit(user.dir, 10 * n + 1, 25, 'mine')
  const takeStep = async (n: number, line = 8) => {
    const again = openAround(user.dir, { env: user.env, background: false })
    // Its workspace is made again first.
    const { task } = await again.start({ task: `T${n}` })
    edit(task.path, 10 * n + 1, line, 'once more')
    await again.checkpoint({ task: task.id })
    await again.close()
  }
  return { user, takeStep }
}

/** Makes the forecast in a process of its own, but for the program. */
export async function costOf(user: TestRepo): Promise<Cost> {
  const spans = recordSpans(user.home)
  let merges = 0
  const counted: ComposeOptions['around'] = {
    vault: (vault) => ({
      ...vault,
      tryOut: (repo, task, work) =>
        vault.tryOut(repo, task, (trial) =>
          work({
            ...trial,
            mergeMany(at, inputs, signal) {
              merges += inputs.length
              return trial.mergeMany(at, inputs, signal)
            },
          }),
        ),
    }),
  }
  const env = { ...user.env, PATH: `${spans.bin}:${user.env.PATH}` }
  const lib = openAround(user.dir, { env, background: false, around: counted })
  try {
    const begun = performance.now()
    const { pairs } = await lib.forecast()
    const ms = Math.round(performance.now() - begun)
    const { commands, atOnce } = spans.take()
    const conflicts = pairs.filter(({ level }) => level === 'conflict').length
    return { merges, commands, atOnce, ms, conflicts, pairs: pairs.length }
  } finally {
    await lib.close()
  }
}
