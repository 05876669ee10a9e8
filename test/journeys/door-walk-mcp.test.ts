/** Every action through the command line and through each other door: the same answers, and the same refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actions } from '../../src/actions/index.ts'
import { toolName } from '../../src/mcp/tools.ts'
import {
  byCommand,
  byDoor,
  makeWalker,
  type OpenedDoor,
  steps,
  takeAway,
  type Walker,
  type WalkedDoor,
} from '../support/door-walk.ts'
import { openClient } from '../support/mcp.ts'

const mcp: WalkedDoor = {
  name: 'mcp',
  async open(repo) {
    const { call, close } = await openClient(repo, ['--scope', 'admin'])
    return { call: (action, input) => call(toolName(action), input), close }
  },
}

const doors: readonly WalkedDoor[] = [mcp]

let user: Walker
const answers: unknown[] = []

beforeAll(async () => {
  user = makeWalker()
  for (const step of steps) answers.push(await byCommand(user, step))
}, 600_000)

afterAll(() => takeAway(user))

describe.each(doors)('by $name', ({ open }) => {
  let walker: Walker
  let door: OpenedDoor

  beforeAll(async () => {
    walker = makeWalker()
    door = await open(walker.repo)
  })

  afterAll(async () => {
    await door.close()
    takeAway(walker)
  })

  test.each(steps.map((step, at) => ({ ...step, at })))('I8: $at $action $input', async ({ at, ...step }) => {
    const answer = await byDoor(walker, door, step)
    if (step.words === undefined) expect(answer).toMatchObject({ ok: true })
    else expect(answer).toEqual(answers[at])
  })
})

test('I8: the walk leaves no action out, and meets answers and refusals', () => {
  expect([...new Set(steps.map(({ action }) => action))].sort()).toEqual(Object.keys(actions).sort())
  const known = answers.filter((answer) => answer !== undefined) as { ok: boolean }[]
  expect(known.filter(({ ok }) => !ok).length).toBeGreaterThan(15)
  expect(known.filter(({ ok }) => ok).length).toBeGreaterThan(30)
})
