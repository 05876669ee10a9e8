/** Runs of the stand-in agent in one process: `runs-many.ts DIR ENV COUNT…` prints the most memory that each count took. */
import { openRepo } from '../../src/index.ts'
import { play } from './stand-in.ts'

const [dir = '', env = '{}', ...counts] = process.argv.slice(2)
const flags = { limits: { perRepo: 100, concurrent: 100 } }
const repo = openRepo(dir, { env: JSON.parse(env) as NodeJS.ProcessEnv, flags })
let most = 0

for (const [round, count] of counts.entries()) {
  most = 0
  await Promise.all(Array.from({ length: Number(count) }, (_, n) => run(`T${round}-${n}`)))
  process.stdout.write(`${Math.round(most / 1024)}\n`)
}
await repo.close()

function run(task: string): Promise<unknown> {
  const prompt = play(...['a', 'b', 'c'].map((name) => ({ sh: `echo ${task} > ${name}.txt` })))
  return repo.run(
    { task, create: true, prompt },
    {
      onEvent: () => {
        most = Math.max(most, process.memoryUsage.rss())
      },
    },
  )
}
