import { expect, test } from 'vitest'
import { rounds } from './rounds.ts'

function counted() {
  const asked: string[][] = []
  const { runAll, ask } = rounds<string, string>(async (questions) => {
    asked.push([...questions])
    return questions.map((question) => `${question}!`)
  })
  return { asked, runAll, ask }
}

test('questions of all computations that wait are asked together', async () => {
  const { asked, runAll, ask } = counted()
  const steps = (name: string, count: number) => async () => {
    let said = ''
    for (let n = 1; n <= count; n++) said += await ask(`${name}${n}`)
    return said
  }
  expect(await runAll([steps('a', 1), steps('b', 3), steps('c', 0), steps('d', 2)])).toEqual([
    'a1!',
    'b1!b2!b3!',
    '',
    'd1!d2!',
  ])
  expect(asked).toEqual([['a1', 'b1', 'd1'], ['b2', 'd2'], ['b3']])
})

test('a computation that waits for something else holds the round up', async () => {
  const { asked, runAll, ask } = counted()
  let go = () => {}
  const late = new Promise<void>((resolve) => (go = resolve))
  const all = runAll([() => ask('a'), async () => (await late, ask('b'))])
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([])
  go()
  expect(await all).toEqual(['a!', 'b!'])
  expect(asked).toEqual([['a', 'b']])
})

test('when a round fails, each of its computations fails, and the next one is asked', async () => {
  let fails = true
  const { runAll, ask } = rounds<string, string>(async (questions) => {
    if (fails) throw new Error('no')
    return questions
  })
  const failed: string[] = []
  const asking = (question: string) => () =>
    ask(question).catch((error: Error) => {
      failed.push(`${question}: ${error.message}`)
      throw error
    })
  await expect(runAll([asking('a'), asking('b')])).rejects.toThrow('no')
  expect(failed).toEqual(['a: no', 'b: no'])
  fails = false
  expect(await runAll([() => ask('c')])).toEqual(['c'])
})
