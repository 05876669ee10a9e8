/** Every action through the command line and through each other door: the same answers, and the same refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actions } from '../../src/actions/index.ts'
import { toolName } from '../../src/mcp/tools.ts'
import { startDaemon } from '../support/daemon.ts'
import {
  byCommand,
  byDoor,
  makeWalker,
  type OpenedDoor,
  type Printed,
  steps,
  takeAway,
  type Walker,
  type WalkedDoor,
} from '../support/door-walk.ts'
import { openClient } from '../support/mcp.ts'

/** The exit codes that a status stands for. */
const exits: Readonly<Record<number, readonly number[]>> = {
  200: [0, 1],
  400: [2],
  404: [3],
  409: [4],
  422: [5],
  500: [1, 6],
}

const http: WalkedDoor = {
  name: 'HTTP',
  rule: 'D5',
  async open(repo) {
    const daemon = await startDaemon(repo)
    const seen = new Set<number>()
    let last = 0
    return {
      async call(action, input) {
        const { status, json } = await daemon.call(action, input)
        seen.add((last = status))
        expect(json.ok).toBe(status === 200)
        return json
      },
      agree: (code) => expect(exits[last]).toContain(code),
      async close() {
        await daemon.stop()
        expect(seen).toEqual(new Set([200, 400, 404, 409, 422, 500]))
      },
    }
  },
}

const mcp: WalkedDoor = {
  name: 'MCP',
  rule: 'M1',
  async open(repo) {
    const { call, close } = await openClient(repo, ['--scope', 'admin'])
    return { call: (action, input) => call(toolName(action), input), close }
  },
}

const doors: readonly WalkedDoor[] = [http, mcp]

let user: Walker
const printed: (Printed | undefined)[] = []

beforeAll(async () => {
  user = makeWalker()
  for (const step of steps) printed.push(await byCommand(user, step))
}, 600_000)

afterAll(() => takeAway(user))

describe.each(doors)('$rule: by $name', ({ open, rule }) => {
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

  test.each(steps.map((step, at) => ({ ...step, at })))(
    `${rule}: $action $input`,
    async ({ at, ...step }) => {
      const answer = await byDoor(walker, door, step)
      const known = printed[at]
      if (!known) return expect(answer).toMatchObject({ ok: true })
      expect(answer).toEqual(known.answer)
      door.agree?.(known.code)
    },
  )
})

test('D5, M1: the walk leaves no action out, and meets answers and refusals', () => {
  expect([...new Set(steps.map(({ action }) => action))].sort()).toEqual(Object.keys(actions).sort())
  const known = printed.flatMap((one) => one?.answer ?? []) as { ok: boolean }[]
  expect(known.filter(({ ok }) => !ok).length).toBeGreaterThan(15)
  expect(known.filter(({ ok }) => ok).length).toBeGreaterThan(30)
})
