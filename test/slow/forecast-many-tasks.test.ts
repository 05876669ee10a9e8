import { expect, onTestFinished, test } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { costOf, manyTasks } from '../support/forecast/many-tasks.ts'
import { until } from '../support/processes.ts'
import { openTestSocket } from '../support/socket.ts'

test.each([
  [10, 5_000],
  [50, 5_000],
])('F6: %i open tasks on %i files: one git at a time, few merges, and none twice', async (count, files) => {
  const { user, takeStep } = await manyTasks(count, files)
  const first = await costOf(user)
  expect(first).toMatchObject({ atOnce: 1, pairs: count / 2 })
  expect(first.merges).toBeLessThanOrEqual(60)
  const again = await costOf(user)
  expect(again).toMatchObject({ merges: 0, atOnce: 1, conflicts: first.conflicts, pairs: first.pairs })
  // The only rival of T1 is T0, and its target has not moved.
  await takeStep(1)
  const moved = await costOf(user)
  // The pair, and again with all files, as it conflicts; these include files of T0 that were merged, and are merged again.
  expect(moved.merges).toBeLessThanOrEqual(4)
  expect(moved.atOnce).toBe(1)
  for (const [name, cost] of Object.entries({ first, again, moved }))
    console.log(
      `${count} tasks, ${name}: ${cost.ms} ms, ${cost.merges} merges, git ${cost.commands.join(' ')}`,
    )
})

test('F7: after a step of one of 10 tasks, a subscriber is told within 300 ms', async () => {
  const { user, takeStep } = await manyTasks(10, 5_000)
  const daemon = await startDaemon(user)
  onTestFinished(() => void daemon.child.kill('SIGKILL'))
  const socket = await openTestSocket(daemon)
  /** When each step was written to the log, and when a forecast with it came. */
  const [taken, told] = [new Map<string, number>(), new Map<string, number>()]
  socket.ws.on('message', (data) => {
    const { action, payload } = JSON.parse((data as Buffer).toString('utf8'))
    if (action === 'task.event' && payload.event.type === 'checkpoint')
      taken.set(`${payload.task} ${payload.event.n}`, Date.parse(payload.at))
    if (action === 'forecast.changed')
      for (const { task, step } of payload.tasks) told.set(`${task} ${step}`, Date.now())
  })
  await socket.request('subscribe', { forecast: true })
  await until(() => told.size === 10, 'all are known', 60_000)
  const times: number[] = []
  for (const [round, line] of [6, 8, 10, 12, 14, 16, 18].entries()) {
    // The pause after the last round is over.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await takeStep(2, line)
    const key = `T2 ${round + 2}`
    await until(() => told.has(key) && taken.has(key), 'the step is in the forecast')
    times.push((told.get(key) ?? 0) - (taken.get(key) ?? 0))
  }
  console.log(`10 tasks, told after a step: ${times.join(', ')} ms`)
  expect(times.sort((a, b) => a - b)[3]).toBeLessThanOrEqual(300)
})
