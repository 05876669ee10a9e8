import { expect, test } from 'vitest'
import { firstSeal, flawsOf, type LoggedEvent, sealOf } from './seal.ts'

function chained(count: number): LoggedEvent[] {
  const log: LoggedEvent[] = []
  for (let seq = 1; seq <= count; seq++) {
    const event = {
      uid: `u${seq % 2}`,
      n: Math.ceil(seq / 2),
      at: `t${seq}`,
      type: 'x',
      text: `{"a":${seq}}`,
    }
    log.push({ seq, ...event, seal: sealOf(log.at(-1)?.seal ?? firstSeal, event) })
  }
  return log
}

const log = chained(6)

const end = {
  seq: 6,
  versions: new Map([
    ['u0', 3],
    ['u1', 3],
  ]),
}

const seqs = async (changed: readonly LoggedEvent[]) =>
  (await flawsOf(changed, end)).flaws.map(({ seq }) => seq)

test('R9: a log as it was written has no flaw, and its head is its last seal', async () => {
  expect(await flawsOf(log, end)).toEqual({ flaws: [], head: log[5]?.seal })
  expect(await flawsOf([], { seq: 0, versions: new Map() })).toEqual({ flaws: [], head: '' })
})

test.each(['uid', 'n', 'at', 'type', 'text', 'seal'] as const)(
  'R9: another %s in any entry is found',
  async (field) => {
    for (const at of log.keys()) {
      const changed = log.map((entry, n) =>
        n === at ? { ...entry, [field]: field === 'n' ? 9 : 'other' } : entry,
      )
      expect((await flawsOf(changed, end)).flaws, `entry ${at + 1}`).not.toEqual([])
    }
  },
)

test('R9: an entry that was taken away is found, also the first, the last, or all of them', async () => {
  for (const at of log.keys())
    expect(await seqs(log.filter((_, n) => n !== at)), `entry ${at + 1}`).not.toEqual([])
  expect(await seqs([])).toContain(6)
  const { flaws } = await flawsOf(
    log.filter(({ seq }) => seq !== 2 && seq !== 3),
    end,
  )
  expect(flaws).toContainEqual({ seq: 4, what: 'the entries 2 to 3 are missing' })
  // The numbers closed up, as if nothing had been there.
  const closed = log.filter((_, n) => n !== 2).map((entry, n) => ({ ...entry, seq: n + 1 }))
  expect(await seqs(closed)).toContain(3)
})

test('R9: two entries that changed places are found', async () => {
  for (let at = 0; at < 5; at++) {
    const [one, two] = [log[at]!, log[at + 1]!]
    const swapped = log.with(at, { ...two, seq: one.seq }).with(at + 1, { ...one, seq: two.seq })
    expect(await seqs(swapped), `entries ${at + 1} and ${at + 2}`).not.toEqual([])
  }
})
