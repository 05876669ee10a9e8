import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import { everyKind, viewOf } from '../../../test/support/task-view.ts'
import { displayWidth } from '../display-width.ts'
import { painter } from '../output.ts'
import { inOrder, type Task } from './groups.ts'
import { screenOf, type View } from './render.ts'
import { mostNotices, type WatchState, withTasks } from './state.ts'

const now = new Date('2026-11-15T18:00:42.000Z')
const view = (width: number, height: number): View => ({ width, height, now, paint: painter(false) })
const stateOf = (tasks: readonly Task[], more: Partial<WatchState> = {}): WatchState =>
  withTasks({ repo: 'shop', tasks: [], done: [], ...more }, tasks)

describe('W1: the screen', () => {
  test('W1: one line for each task, in groups, with a header and the keys', () => {
    expect(screenOf(stateOf(everyKind), view(110, 16))).toEqual([
      'shop: 3 need you, 1 running, 2 to review, 1 other',
      '    TASK    TITLE  AGENT   STATE                              LAST                       STEPS  LINES   AGE',
      'Needs you',
      '> ? asks           claude  asks you                           Bash npm install left-pad  0      +0 -0   42s',
      '  ! wants          gemini  wants: accept                                                 0      +0 -0   now',
      '  x broken         claude  failed: API Error: 529 overloaded                             0      +0 -0   now',
      'Running',
      '  * works          claude  running                            Bash npm test              0      +0 -0   12s',
      'Ready to review',
      '  + ready          codex   completed                                                     3      +40 -7  now',
      '  - empty          codex   completed                                                     0      +0 -0   now',
      'Others',
      '  - idle                   active                                                        0      +0 -0   now',
      '',
      '',
      'y/n answer  enter diff  a accept  s stop  t attach  r reject  u undo  o open  ? help  q leave',
    ])
  })

  test('W1: in a narrow terminal the title is cut first, then what was last done', () => {
    const tasks = [
      viewOf('login', {
        title: 'Fix the login form and everything around it, before Friday',
        agent: 'claude',
        state: 'completed',
        files: 2,
        lastCall: { tool: 'Edit', summary: 'src/login/form.ts' },
      }),
    ]
    const line = (width: number) => screenOf(stateOf(tasks), view(width, 10))[3]
    expect(line(140)).toContain('before Friday')
    expect(line(100)).toMatch(
      /^> \+ login {2}Fix the.*… {2}claude {2}completed {2}Edit src\/login\/form\.ts {2}0/,
    )
    expect(line(70)).toMatch(
      /^> \+ login {2}Fix.*… {2}claude {2}completed {2}Edit src.*… {2}0 {6}\+0 -0 {2}now$/,
    )
    expect(line(60)).toMatch(/^> \+ login {2}completed {2}Edit src.*… {2}0 {6}\+0 -0 {2}now$/)
    expect(line(50)).toMatch(/^> \+ login {2}completed {2}Edit.*… {2}0 {6}\+0 -0 {2}now$/)
  })

  test('W1: all repositories: the name tells of which a task is', () => {
    const tasks = [viewOf('T1'), viewOf('T1', { path: '/other', origin: '/home/you/blog' })]
    const shown = screenOf(stateOf(tasks, { repo: undefined }), view(80, 10)).join('\n')
    expect(shown).toMatch(/^all repositories: 2 others$/m)
    expect(shown).toMatch(/shop\/T1/)
    expect(shown).toMatch(/blog\/T1/)
  })

  test('W1: nothing to show says what to do', () => {
    expect(screenOf(stateOf([]), view(80, 6))[0]).toBe('shop: no open tasks')
    expect(screenOf(stateOf([]), view(80, 6)).join('\n')).toContain('offshoot run')
  })

  test('W2: a question takes the last line, and a long text says that there is more', () => {
    const lines = Array.from({ length: 30 }, (_, n) => `  + file${n}`)
    const asks = { words: 'Accept T1?', deed: { do: 'leave' }, at: 0 } as const
    const shown = screenOf(stateOf(everyKind, { panel: { lines, from: 0, asks } }), view(60, 12))
    expect(shown.at(-1)).toBe('Accept T1? [y/N]')
    expect(shown.at(-2)).toBe('… 21 more lines: down, page down')
    const early = { ...asks, at: now.getTime() - 1 }
    expect(
      screenOf(stateOf(everyKind, { panel: { lines, from: 0, asks: early } }), view(60, 12)).at(-1),
    ).toBe('')
    const end = screenOf(stateOf(everyKind, { panel: { lines, from: 20, asks } }), view(60, 12))
    expect(end.slice(-2)).toEqual(['  + file29', 'Accept T1? [y/N]'])
  })

  test('W1: what is being done, and what came of it, stands above the keys', () => {
    const shown = screenOf(stateOf(everyKind, { busy: 'accept ready' }), view(60, 20))
    expect(shown.at(-2)).toBe('accept ready …')
    const told = screenOf(stateOf(everyKind, { notice: ['Accepted ready', '  undo: x'] }), view(60, 20))
    expect(told.slice(-3, -1)).toEqual(['Accepted ready', '  undo: x'])
    const long = screenOf(stateOf(everyKind, { notice: ['words '.repeat(15).trim()] }), view(60, 20))
    expect(long.slice(-3, -1)).toEqual(['words '.repeat(10).trim(), 'words '.repeat(5).trim()])
  })

  test('W1: without colours nothing but text is written, and the cursor is still to be seen', () => {
    const colored = screenOf(stateOf(everyKind), { ...view(80, 20), paint: painter(true) })
    expect(colored.join('')).toContain('\u001B[7m> ? asks')
    expect(screenOf(stateOf(everyKind), view(80, 20)).join('')).not.toContain('\u001B')
  })
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '日本語の名前がとても長い',
    '\u001b[2J\u001b]0;x\u0007',
    'a\nb\r\nc',
    '\u202eevil',
    '👩‍👩‍👧‍👦 🚀',
    'e\u0301',
  ),
)

const anyTask = fc
  .record({ id: hostile, title: hostile, tool: hostile, reason: hostile, agent: hostile, kind: fc.nat(5) })
  .map(({ id, title, tool, reason, agent, kind }) => {
    const more: Partial<Task>[] = [
      {},
      { state: 'failed', reason },
      { running: true },
      { state: 'completed', files: 1, insertions: 123456, deletions: 98765 },
      { state: 'completed', wanted: tool },
      { asks: { question: 'q', tool, summary: title, reason, at: now.toISOString(), until: reason } },
    ]
    return { id, title, agent, lastCall: { tool, summary: reason }, ...more[kind] } as Partial<Task>
  })

test('W1: whatever the names, as many lines as rows, none too wide, none that moves the cursor, and the cursor among them', () => {
  fc.assert(
    fc.property(
      fc.array(anyTask, { maxLength: 40 }),
      fc.integer({ min: 1, max: 220 }),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(39),
      fc.array(hostile, { maxLength: 6 }),
      (some, width, height, at, notice) => {
        const tasks = some.map((more, n) => ({ ...viewOf('x'), ...more, path: `/w/${n}` }))
        const cursor = inOrder(tasks)[at % Math.max(1, tasks.length)]?.path
        const lines = screenOf(stateOf(tasks, { cursor, notice }), view(width, height))
        expect(lines).toHaveLength(height)
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width)
          expect(line).not.toMatch(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u)
        }
        const hasRoom = height - 2 - mostNotices > 0
        if (tasks.length > 0 && hasRoom) expect(lines.filter((line) => line.startsWith('>'))).toHaveLength(1)
      },
    ),
  )
})
