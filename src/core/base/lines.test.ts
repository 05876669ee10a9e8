/** Text in chunks becomes lines. */
import { expect, test } from 'vitest'
import { lines, longestLine } from './lines.ts'

test('lines come whole, however the text is cut', () => {
  const text = 'one\n\ntwo three\nrest'
  for (let size = 1; size <= text.length; size++) {
    const heard: string[] = []
    const read = lines((line) => heard.push(line))
    for (let at = 0; at < text.length; at += size) read.add(text.slice(at, at + size))
    read.end()
    expect(heard).toEqual(['one', '', 'two three', 'rest'])
  }
})

test('M5: a line without an end takes time only as it is long, and is left out beyond the limit', () => {
  const heard: number[] = []
  const left: number[] = []
  const read = lines(
    (line) => heard.push(line.length),
    (length) => left.push(length),
  )
  const chunk = 'x'.repeat(64 * 1024)
  const begun = performance.now()
  for (let n = 0; n < 1024; n++) read.add(chunk)
  read.add(`\n${'y'.repeat(longestLine)}\nz`)
  read.end()
  expect(left).toEqual([64 * 1024 * 1024])
  expect(heard).toEqual([longestLine, 1])
  expect(performance.now() - begun).toBeLessThan(5_000)
})
