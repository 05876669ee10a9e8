import { expect, test } from 'vitest'
import { runProgram } from '../support/processes.ts'
import { testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { library } from '../support/workspace.ts'

test('G5: ten runs at once where four may be at work all complete, every step in its own task', async () => {
  const repo = withStandIn(testRepo())
  const lib = library(repo, { flags: { limits: { concurrent: 4, perRepo: 20 } } })
  const tasks = Array.from({ length: 10 }, (_, n) => `T${n}`)
  const prompt = (task: string) =>
    play({ sh: `echo ${task} > ${task}.txt` }, { sh: `echo ${task} > second.txt` })
  const ran = await Promise.all(
    tasks.map((task) => lib.run({ task, create: true, prompt: prompt(task) }, { onEvent: () => {} })),
  )
  expect(ran.map(({ task }) => task.state)).toEqual(tasks.map(() => 'completed'))
  for (const task of tasks) {
    const steps = (await lib.log(task)).map(({ files }) => files.map((file) => file.path))
    expect(steps).toEqual([[`${task}.txt`], ['second.txt']])
  }
})

test('G5: each further run in one process takes at most 10 MB', async () => {
  const repo = withStandIn(testRepo())
  const file = new URL('../support/runs-many.ts', import.meta.url)
  const program = runProgram(file, repo.dir, JSON.stringify(repo.env), '1', '1', '11')
  const [, one = 0, eleven = 0] = (await program.rest()).map(Number)
  const each = (eleven - one) / 1024 / 10
  console.log(`each further run: ${each.toFixed(1)} MB (one ${one} KB, eleven ${eleven} KB)`)
  expect(each).toBeLessThanOrEqual(10)
})
