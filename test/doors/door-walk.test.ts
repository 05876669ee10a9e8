/**
 * Every action through the command line and through each other door: the same answers, and the same refusals. The walks
 * go on side by side, each in a repository of its own.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { actions } from '../../src/actions/index.ts'
import { openDoor } from '../../src/api/call.ts'
import { compose } from '../../src/compose/full.ts'
import { appError } from '../../src/core/model/errors.ts'
import { checked } from '../../src/library/checked.ts'
import { toolName } from '../../src/mcp/tools.ts'
import { startDaemon } from '../support/daemon.ts'
import {
  type Heard,
  makeWalker,
  steps,
  takeAway,
  walkByCommand,
  walkByDoor,
  type WalkedDoor,
} from '../support/door-walk.ts'
import { openClient } from '../support/mcp.ts'
import { openTestSocket } from '../support/socket.ts'

/** The exit codes that a status stands for. */
const exits: Readonly<Record<number, readonly number[]>> = {
  200: [0, 1],
  400: [2],
  404: [3],
  409: [4],
  422: [5],
  500: [1, 6],
}

/** What every function of the library calls, in this process. */
const library: WalkedDoor = {
  name: 'the library',
  rule: 'I2',
  async open(repo) {
    const ports = compose({ env: repo.env, named: repo.dir })
    const call = checked(openDoor(ports, () => ({ kind: 'user' })))
    return {
      call: (action, input) =>
        call(action, input as Parameters<typeof call>[1]).then(
          // As JSON, where a field without a value is left out.
          (answer) => JSON.parse(JSON.stringify({ ok: true, ...answer })),
          (thrown: unknown) => ({ ok: false, error: JSON.parse(JSON.stringify(appError(thrown))) }),
        ),
      close: () => ports.close(),
    }
  },
}

const http: WalkedDoor = {
  name: 'HTTP',
  rule: 'D5',
  async open(repo) {
    const daemon = await startDaemon(repo)
    let last = 0
    return {
      async call(action, input) {
        const { status, json } = await daemon.call(action, input)
        last = status
        return json
      },
      status: () => last,
      close: async () => void (await daemon.stop()),
    }
  },
}

const webSocket: WalkedDoor = {
  name: 'WebSocket',
  rule: 'D9',
  async open(repo) {
    const daemon = await startDaemon(repo)
    const socket = await openTestSocket(daemon)
    return {
      async call(action, input) {
        const { type, payload, error } = await socket.request(action, input)
        return type === 'response' ? payload : { ok: false, error }
      },
      async close() {
        socket.ws.terminate()
        await daemon.stop()
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

const doors: readonly WalkedDoor[] = [library, http, webSocket, mcp]

let printed: (Heard | undefined)[] = []
const answered = new Map<string, Heard[]>()

async function walked<T>(walk: (walker: ReturnType<typeof makeWalker>) => Promise<T>): Promise<T> {
  const walker = makeWalker()
  try {
    return await walk(walker)
  } finally {
    takeAway(walker)
  }
}

beforeAll(async () => {
  const byDoors = doors.map(({ name, open }) =>
    walked(async (walker) => {
      const door = await open(walker.repo)
      try {
        answered.set(name, await walkByDoor(walker, door))
      } finally {
        await door.close()
      }
    }),
  )
  const byCommand = walked(async (walker) => void (printed = await walkByCommand(walker)))
  const failed = (await Promise.allSettled([byCommand, ...byDoors])).find(
    ({ status }) => status === 'rejected',
  )
  if (failed) throw (failed as PromiseRejectedResult).reason
}, 600_000)

describe.each(doors)('$rule: by $name', ({ name, rule }) => {
  test.each(steps.map((step, at) => ({ ...step, at })))(`${rule}: $action $input`, ({ at }) => {
    const { answer, code } = answered.get(name)?.[at] ?? {}
    const known = printed[at]
    if (!known) return expect(answer).toMatchObject({ ok: true })
    expect(answer).toEqual(known.answer)
    if (code !== undefined) expect(exits[Number(code)]).toContain(known.code)
  })
})

test('D5: each kind of answer has its status', () => {
  const seen = answered.get(http.name) ?? []
  expect(new Set(seen.map(({ code }) => code))).toEqual(new Set(Object.keys(exits).map(Number)))
  for (const { answer, code } of seen) expect((answer as { ok: boolean }).ok).toBe(code === 200)
})

test('D5, M1: the walk leaves no action out, and meets answers and refusals', () => {
  const met = [...new Set(steps.map(({ action }) => action))].sort()
  expect(met).toEqual(Object.keys(actions).sort())
  const known = printed.flatMap((one) => one?.answer ?? []) as { ok: boolean }[]
  expect(known.filter(({ ok }) => !ok).length).toBeGreaterThan(15)
  expect(known.filter(({ ok }) => ok).length).toBeGreaterThan(30)
  console.log(`${met.length} actions x ${doors.length + 1} doors`)
})
