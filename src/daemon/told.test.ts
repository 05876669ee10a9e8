import { expect, test, vi } from 'vitest'
import type { Outgoing } from '../protocol/envelope.ts'
import type { Told } from '../protocol/events.ts'
import { joined, openTold } from './told.ts'

const text = (words: string, stream: 'stdout' | 'stderr' = 'stdout'): Told => ({
  event: 'output',
  stream,
  text: words,
})
const progress = (percent: number): Told => ({
  event: 'progress',
  phase: 'writing',
  percent,
  files: 1,
  total: 2,
})
const all = (...events: Told[]) => events.reduce<Told[]>(joined, [])

test('D12: output of one stream is joined, of two it is not', () => {
  expect(all(text('a'), text('b'), text('c', 'stderr'), text('d'))).toEqual([
    text('ab'),
    text('c', 'stderr'),
    text('d'),
  ])
})

test('D12: a message that goes on is joined, a whole one is not', () => {
  const part = (words: string): Told => ({ event: 'message', text: words, part: true })
  const whole = (words: string): Told => ({ event: 'message', text: words })
  expect(all(part('a'), part('b'), whole('c'), whole('d'))).toEqual([whole('abc'), whole('d')])
})

test('D12: of progress the last one counts', () => {
  expect(all(progress(1), progress(2), text('a'), progress(3))).toEqual([progress(2), text('a'), progress(3)])
})

/** A wire that tells what it was sent, and is as slow as the test says. */
function heardBy(isQuick: () => boolean) {
  const sent: Outgoing[] = []
  const wire = { push: (message: Outgoing) => void sent.push(message), hasRoom: () => true, isQuick }
  return { sent, ...openTold(wire, 'r1') }
}

test('D12: output is sent at most twenty times a second, and the rest before the answer', () => {
  vi.useFakeTimers()
  try {
    const { sent, emit, flush } = heardBy(() => true)
    for (let n = 0; n < 1000; n++) {
      emit(text('x'))
      vi.advanceTimersByTime(1)
    }
    expect(sent.length).toBeGreaterThan(10)
    expect(sent.length).toBeLessThanOrEqual(20)
    emit(text('end'))
    flush()
    const said = sent.map((one) => JSON.stringify(one)).join('')
    expect(said.match(/x/g)?.length).toBeGreaterThanOrEqual(1000)
    expect(sent.at(-1)).toMatchObject({ payload: { request: 'r1' } })
  } finally {
    vi.useRealTimers()
  }
})

test('D12: a slow client gets none, and is told how much later', () => {
  let quick = false
  const { sent, emit, flush } = heardBy(() => quick)
  emit(text('a'))
  emit(text('b', 'stderr'))
  flush()
  expect(sent).toEqual([])
  quick = true
  emit(text('c'))
  flush()
  expect(sent).toEqual([
    expect.objectContaining({ payload: { request: 'r1', events: [text('c')], dropped: 2 } }),
  ])
})

test('D12: what waits is bounded', () => {
  const { sent, emit, flush } = heardBy(() => true)
  for (let n = 0; n < 100; n++) emit(text('x'.repeat(10_000)))
  flush()
  expect(JSON.stringify(sent).length).toBeLessThan(300_000)
  expect(sent[0]).toMatchObject({ payload: { dropped: 74 } })
})

test('D12: the input of a question is not told', () => {
  const { sent, emit, flush } = heardBy(() => true)
  expect(
    emit({ event: 'asked', reason: 'r', tool: 'Bash', summary: 's', input: { secret: 1 } }),
  ).toBeUndefined()
  flush()
  expect(JSON.stringify(sent)).not.toContain('secret')
})
