/** Draws the screen of `watch`: a state becomes as many lines as the terminal has rows, none wider than the terminal. Pure. */
import path from 'node:path'
import { counted } from '../../core/base/counted.ts'
import { cutText, displayWidth, foldLine } from '../display-width.ts'
import {
  age,
  aligned,
  elapsed,
  type Fit,
  isPlain,
  linesText,
  type Measure,
  type Paint,
  printable,
  stateWords,
  titleLine,
} from '../output.ts'
import { callText } from '../run-status.ts'
import { whyOf } from '../commands/waiting.ts'
import { groupsOf, type Task } from './groups.ts'
import { isAsked, mostNotices, type Panel, underCursor, type WatchState } from './state.ts'

/** The terminal, and the moment. */
export interface View {
  readonly width: number
  readonly height: number
  readonly now: Date
  readonly paint: Paint
}

/** How many lines of a panel are to be seen: all but the header and the footer. */
export function pageOf({ height }: Pick<View, 'height'>): number {
  return Math.max(1, height - 2)
}

export function screenOf(state: WatchState, view: View): string[] {
  const foot = [...noticeLines(state, view), footer(state, view)]
  const room = Math.max(0, view.height - 1 - foot.length)
  const body = state.panel ? panelLines(state.panel, view, room) : taskLines(state, view, room)
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => '')
  return [header(state, view), ...body, ...blank, ...foot].slice(-Math.max(1, view.height))
}

const measure: Measure = {
  widthOf: (text) => (isPlain(text) ? text.length : displayWidth(text)),
  cutTo: (text, width) => (isPlain(text) && text.length <= width ? text : cutText(text, width)),
}

const fitted = (line: string, { width }: View) => measure.cutTo(printable(line), width)

/** `shop: 1 needs you, 2 running, 1 to review` */
function header({ repo = 'all repositories', tasks }: WatchState, view: View): string {
  const counts = groupsOf(tasks).map((group) => counted(group.tasks.length, ...group.nouns))
  const line = `${repo}: ${counts.length === 0 ? 'no open tasks' : counts.join(', ')}`
  return view.paint('bold', fitted(line, view))
}

/** A long line goes on in the next one, since the hint of an error is of no use when it is cut. */
function noticeLines({ notice, busy }: WatchState, view: View): string[] {
  const lines = busy === undefined ? (notice ?? []) : [`${busy} …`, ...(notice ?? [])]
  const folded = lines.flatMap((line) => foldLine(printable(line), Math.max(2, view.width)))
  return folded.slice(0, mostNotices).map((line) => view.paint('yellow', measure.cutTo(line, view.width)))
}

function footer(state: WatchState, view: View): string {
  const { panel } = state
  if (panel?.asks)
    return isAsked(panel.asks, view.now.getTime())
      ? view.paint('bold', fitted(`${panel.asks.words} [y/N]`, view))
      : ''
  const line = panel ? 'any key goes back' : hints(underCursor(state), view.width)
  return view.paint('dim', fitted(line, view))
}

/** The keys that make sense for the task, as many as fit; those at the end always do. */
function hints(task: Task | undefined, width: number): string {
  const last = '? help  q leave'
  const all = task
    ? [
        ...(task.asks ? ['y/n answer'] : []),
        'enter diff',
        'a accept',
        ...(task.running ? ['s stop', 't attach'] : []),
        'r reject',
        'u undo',
        'o open',
        ...(task.running ? [] : ['t attach']),
      ]
    : ['u undo']
  const shown: string[] = []
  for (const hint of all)
    if ([...shown, hint, last].join('  ').length <= width) shown.push(hint)
    else break
  return [...shown, last].join('  ')
}

/** The part of the panel that was scrolled to. */
function panelLines({ lines, from }: Panel, view: View, room: number): string[] {
  const top = Math.max(0, Math.min(from, lines.length - room))
  const below = lines.length - top - room
  const visible = lines.slice(top, top + room).map((line) => fitted(line, view))
  // The last line tells that there is more, and how to get there.
  if (below > 0 && room > 1)
    visible[room - 1] = view.paint('dim', fitted(`… ${below + 1} more lines: down, page down`, view))
  return visible
}

function taskLines(state: WatchState, view: View, room: number): string[] {
  const groups = groupsOf(state.tasks)
  if (groups.length === 0)
    return ['', fitted('No open tasks. In another terminal: offshoot run "what to do"', view)].slice(0, room)
  const tasks = groups.flatMap((group) => group.tasks)
  const [head = '', ...rows] = tableOf(state, tasks, view)
  const cursor = underCursor(state)
  const lines: string[] = []
  let at = 0
  for (const group of groups) {
    lines.push(view.paint('bold', fitted(group.title, view)))
    for (const task of group.tasks) {
      const isHere = task === cursor
      if (isHere) at = lines.length
      lines.push(taskLine(task, rows[tasks.indexOf(task)] ?? '', isHere, view))
    }
  }
  // In a low terminal the tasks need the row.
  const heads = room > 5 ? [view.paint('dim', measure.cutTo(`${' '.repeat(prefix)}${head}`, view.width))] : []
  return [...heads, ...windowOf(lines, at, room - heads.length)]
}

/** As many lines as fit, with the line of the cursor among them. */
function windowOf(lines: readonly string[], cursor: number, room: number): string[] {
  const top = Math.max(0, Math.min(cursor - Math.floor(room / 2), lines.length - room))
  return lines.slice(top, top + Math.max(0, room))
}

/** The cursor, the mark, and a space after each. */
const prefix = 4

const columns = ['TASK', 'TITLE', 'AGENT', 'STATE', 'LAST', 'STEPS', 'LINES', 'AGE']

/** The title is cut first, then what was last done, the state and a long id; then title, agent and what was last done go. */
const cut: Fit['cut'] = [
  { column: 1, least: 12 },
  { column: 4, least: 14 },
  { column: 3, least: 12 },
  { column: 1, least: 0 },
  { column: 0, least: 14 },
  { column: 2, least: 0 },
  { column: 4, least: 0 },
  { column: 0, least: 8 },
  { column: 3, least: 7 },
  { column: 6, least: 0 },
  { column: 5, least: 0 },
  { column: 3, least: 0 },
]

function tableOf({ repo }: WatchState, tasks: readonly Task[], { width, now }: View): string[] {
  const nameOf = ({ id, origin }: Task) => (repo === undefined ? `${path.basename(origin)}/${id}` : id)
  const rows = tasks.map((task) => [nameOf(task), ...cellsOf(task, now)].map(printable))
  return aligned([columns, ...rows], measure, { width: Math.max(0, width - prefix), cut })
}

function cellsOf(task: Task, now: Date): string[] {
  return [
    titleLine(task),
    task.agent ?? '',
    stateText(task),
    task.asks ? callText(task.asks) : task.lastCall ? callText(task.lastCall) : '',
    String(task.checkpoints),
    linesText(task),
    ageText(task, now).padStart(3),
  ]
}

function stateText(task: Task): string {
  const why = whyOf(task)
  if (why === 'asks') return 'asks you'
  if (why === 'wanted') return `wants: ${task.wanted}`
  return stateWords(task, 60)
}

/** Of a run, how long it has been going on; else the age of the last event. */
function ageText({ running, runningSince, lastActiveAt }: Task, now: Date): string {
  return running ? elapsed(runningSince ?? lastActiveAt, now) : age(lastActiveAt, now)
}

const marks = {
  asks: ['?', 'yellow'],
  wanted: ['!', 'yellow'],
  failed: ['x', 'red'],
  running: ['*', 'cyan'],
  review: ['+', 'green'],
  empty: ['-', 'dim'],
} as const

function taskLine(task: Task, row: string, isHere: boolean, { width, paint }: View): string {
  const why = whyOf(task)
  const [mark, style] = why === undefined ? (['-', 'dim'] as const) : marks[why]
  // A line is painted after it was cut, so that no colour loses its end.
  if (width <= prefix) return measure.cutTo(`${isHere ? '>' : ' '} ${mark}`, width)
  if (isHere) return paint('inverse', `> ${mark} ${row}`)
  return `  ${paint(style, mark)} ${row}`
}
