import { expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import { cutFiles, type Lines, parseCuts, picks, withLines } from './hunks.ts'

/** Stretches of lines that both sides have, and between them what gives way to what. */
const line = fc.constantFrom('a\n', 'b\n', '\n', 'crlf\r\n', 'a b\r\n', '\ufeffx\n', 'lone\rcr\n')

const stretches = fc.array(
  fc.record({
    same: fc.array(line, { maxLength: 4 }),
    old: fc.array(line, { maxLength: 3 }),
    now: fc.array(line, { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
)

interface Made {
  readonly before: Buffer
  readonly after: Buffer
  readonly all: readonly Lines[]
}

/** Both sides and the lines that differ, known from how they were made. `bare`: the last line has no line feed. */
function made(
  parts: { same: string[]; old: string[]; now: string[] }[],
  bare: readonly [boolean, boolean],
): Made {
  const [olds, news]: [string[], string[]] = [[], []]
  const all: Lines[] = []
  for (const { same, old, now } of parts) {
    olds.push(...same)
    news.push(...same)
    if (old.length + now.length === 0) continue
    const start = (lines: string[], count: number) => (count === 0 ? lines.length : lines.length + 1)
    all.push({
      oldStart: start(olds, old.length),
      oldLines: old.length,
      newStart: start(news, now.length),
      newLines: now.length,
    })
    olds.push(...old)
    news.push(...now)
  }
  const last = parts.at(-1)
  const text = (lines: string[], isBare: boolean) => {
    const whole = lines.join('')
    return Buffer.from(isBare ? whole.replace(/\n$/, '') : whole)
  }
  // A last line that both sides share has its line feed in both or in none.
  const changed = [last?.old, last?.now].every((lines) => (lines?.length ?? 0) > 0)
  return { before: text(olds, bare[0] && changed), after: text(news, bare[1] && changed), all }
}

const cases = fc.tuple(
  stretches,
  fc.tuple(fc.boolean(), fc.boolean()),
  fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
)

test('A5: any hunks and then the rest are the whole, byte for byte', () => {
  fc.assert(
    fc.property(cases, ([parts, bare, flips]) => {
      const { before, after, all } = made(parts, bare)
      const first = all.filter((_, index) => flips[index])
      const middle = withLines(before, after, first)
      const rest = all.flatMap((lines, index) => {
        if (flips[index]) return []
        const above = first.filter(
          (other) => other.newStart < lines.newStart || other.oldStart < lines.oldStart,
        )
        const moved = above.reduce((sum, { oldLines, newLines }) => sum + newLines - oldLines, 0)
        return [{ ...lines, oldStart: lines.oldStart + moved }]
      })
      expect(withLines(middle, after, rest).toString()).toBe(after.toString())
    }),
    { numRuns: 2_000 },
  )
})

test('A5: to take some hunks is to leave the others out', () => {
  const back = ({ oldStart, oldLines, newStart, newLines }: Lines): Lines => {
    return { oldStart: newStart, oldLines: newLines, newStart: oldStart, newLines: oldLines }
  }
  fc.assert(
    fc.property(cases, ([parts, bare, flips]) => {
      const { before, after, all } = made(parts, bare)
      const some = withLines(
        before,
        after,
        all.filter((_, index) => flips[index]),
      )
      const others = all.filter((_, index) => !flips[index]).map(back)
      expect(some.toString()).toBe(withLines(after, before, others).toString())
    }),
    { numRuns: 2_000 },
  )
})

const [old, now] = ['1'.repeat(40), '2'.repeat(40)]

const patch = [
  'diff --git "a/\\303\\244" "b/\\303\\244"',
  `index ${old}..${now} 100644`,
  '--- "a/\\303\\244"',
  '+++ "b/\\303\\244"',
  '@@ -1 +1,2 @@',
  '-index 3333333..4444444 of a file',
  '+@@ -7,7 +7,7 @@ is text here',
  '+diff --git',
  '@@ -20,0 +22,1 @@ function',
  '+same',
  '@@ -40,0 +43,1 @@ function',
  '+same',
  '\\ No newline at end of file',
  '',
].join('\n')

test('a patch is cut at its headers, and nothing in a file looks like one', () => {
  const cuts = parseCuts(patch).get(`${old}..${now}`)
  expect(cuts).toMatchObject([
    {
      header: '@@ -1 +1,2 @@',
      oldStart: 1,
      oldLines: 1,
      newStart: 1,
      newLines: 2,
      insertions: 2,
      deletions: 1,
    },
    {
      header: '@@ -20,0 +22,1 @@ function',
      oldStart: 20,
      oldLines: 0,
      newStart: 22,
      newLines: 1,
      insertions: 1,
      deletions: 0,
    },
    {
      header: '@@ -40,0 +43,1 @@ function',
      oldStart: 40,
      oldLines: 0,
      newStart: 43,
      newLines: 1,
      insertions: 1,
      deletions: 0,
    },
  ])
})

const leaf = (oid: string, mode: '100644' | '100755' | '120000' = '100644') => ({ mode, oid })

test('the mode of a file is a hunk of its own; what is new, gone, binary or a link is one hunk', () => {
  const changes = new Map([
    ['both', { from: leaf(old), to: leaf(now, '100755') }],
    ['gone', { from: leaf(old), to: null }],
    ['link', { from: leaf(old, '120000'), to: leaf(now, '120000') }],
    ['new', { from: null, to: leaf(now) }],
    ['noise', { from: leaf('5'.repeat(40)), to: leaf('6'.repeat(40)) }],
  ])
  const files = cutFiles(changes, parseCuts(patch))
  expect(files.map(({ path, parts }) => [path, parts.map(({ of }) => of)])).toEqual([
    ['both', ['mode', 'lines', 'lines', 'lines']],
    ['gone', ['whole']],
    ['link', ['whole']],
    ['new', ['whole']],
    ['noise', ['whole']],
  ])
  const [mode, first] = files[0]?.parts ?? []
  const [picked] = [...picks({ id: 'T1' }, files, [mode?.hunk.id ?? '']).values()]
  expect(picked).toEqual({ mode: '100755', lines: [] })
  const [other] = [...picks({ id: 'T1' }, files, [first?.hunk.id ?? '']).values()]
  expect(other).toMatchObject({ mode: '100644', lines: [{ oldStart: 1 }] })
})

test('ids differ between files and between hunks of the same words; one that fits nothing is refused', () => {
  const change = { from: leaf(old), to: leaf(now) }
  const files = cutFiles(
    new Map([
      ['a', change],
      ['b', change],
    ]),
    parseCuts(patch),
  )
  const ids = files.flatMap(({ parts }) => parts.map(({ hunk }) => hunk.id))
  expect(new Set(ids).size).toBe(6)
  expect(() => picks({ id: 'T1' }, files, [ids[0] ?? '', 'beef'])).toThrow(
    expect.objectContaining({ code: 'WT_005', message: expect.stringContaining('beef') }),
  )
})
