/** What the screen of `watch` knows, and what each key makes of it. Pure: a key only names the deed that is to be done. */
import { inOrder, keyOf, type Task } from './groups.ts'

export interface WatchState {
  /** The repository, for the header; undefined: the tasks of all are shown. */
  readonly repo: string | undefined
  readonly tasks: readonly Task[]
  /** The key of the task under the cursor. */
  readonly cursor?: string | undefined
  /** Text that hides the tasks until it is answered or closed. */
  readonly panel?: Panel | undefined
  /** What the last deed came to. */
  readonly notice?: readonly string[] | undefined
  /** What is being done; no key counts meanwhile but those that leave. */
  readonly busy?: string | undefined
  /** The user wants to leave as soon as that is done. */
  readonly isLeaving?: boolean | undefined
  /** The operations that were done here and are not undone, oldest first. */
  readonly done: readonly Done[]
}

export interface Done {
  readonly operation: string
  readonly verb: string
  readonly task: Task
}

export interface Panel {
  readonly lines: readonly string[]
  /** The first line that is shown. */
  readonly from: number
  /** A question about it, and what `y` does. */
  readonly asks?: Question | undefined
}

interface Question {
  readonly words: string
  readonly deed: Deed
  /** When the panel came, in milliseconds. */
  readonly at: number
}

/** How many lines of a notice fit above the keys. */
export const mostNotices = 5

export type Deed =
  | { readonly do: 'diff' | 'preview' | 'attach' | 'answer' | 'open'; readonly task: Task }
  | { readonly do: 'stop' | 'reject'; readonly task: Task }
  /** Lands what the preview showed, and nothing else. */
  | { readonly do: 'accept'; readonly task: Task; readonly shown: readonly string[] }
  | { readonly do: 'undo'; readonly done: Done }
  | Leaving

/** Leaves the screen, or cancels what is being done. */
type Leaving = { readonly do: 'leave' } | { readonly do: 'cancel' }

/** A deed that changes or shows something. */
export type Doing = Exclude<Deed, Leaving>

export interface Pressed {
  readonly state: WatchState
  readonly deed?: Deed
}

/** How long a question takes to be asked: a key that was typed before answers nothing. */
export const settleMs = 100

/** Whether the question is asked by now; also after the clock was set back. */
export function isAsked({ at }: Question, now: number): boolean {
  return Math.abs(now - at) >= settleMs
}

/** Now, in milliseconds, and how many lines of a panel are to be seen. */
export interface Moment {
  readonly at: number
  readonly page: number
}

/** The state after a key, and the deed that it asks for. */
export function pressed(state: WatchState, key: string, { at, page }: Moment): Pressed {
  if (key === 'ctrl-c') return { state, deed: { do: state.busy === undefined ? 'leave' : 'cancel' } }
  if (state.busy !== undefined) return { state: key === 'q' ? { ...state, isLeaving: true } : state }
  if (state.panel) return onPanel(state, state.panel, key, { at, page })
  return onTasks({ ...state, notice: undefined }, key, at)
}

function onPanel(state: WatchState, panel: Panel, key: string, { at, page }: Moment): Pressed {
  const { panel: _, ...closed } = state
  const by = steps[key]
  if (by !== undefined) {
    const from = clamped(panel.from + by, panel.lines.length - page + 1)
    return { state: { ...state, panel: { ...panel, from } } }
  }
  if (!panel.asks) return { state: closed }
  if (!isAsked(panel.asks, at)) return { state }
  if (key === 'y') return { state: closed, deed: panel.asks.deed }
  return ['n', 'q', 'escape', 'enter'].includes(key) ? { state: closed } : { state }
}

/** How far a key moves. */
const steps: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  'page-up': -10,
  'page-down': 10,
  home: -Infinity,
  end: Infinity,
}

function onTasks(state: WatchState, key: string, at: number): Pressed {
  if (key === 'q') return { state, deed: { do: 'leave' } }
  if (key === '?') return { state: { ...state, panel: { lines: help, from: 0 } } }
  if (key === 'u') return undoes(state, at)
  const task = underCursor(state)
  if (!task) return { state }
  const by = steps[key]
  if (by !== undefined) return { state: moved(state, task, by) }
  return onTask(state, key, task, at)
}

function onTask(state: WatchState, key: string, task: Task, at: number): Pressed {
  switch (key) {
    case 'enter':
    case 'd':
      return { state, deed: { do: 'diff', task } }
    case 'a':
      return { state, deed: { do: 'preview', task } }
    case 't':
      return { state, deed: { do: 'attach', task } }
    case 'o':
      return { state, deed: { do: 'open', task } }
    case 's':
      return task.running
        ? asking(state, [`${task.id} is running; its work is kept.`], 'Stop it?', { do: 'stop', task }, at)
        : noticed(state, `Nothing runs in ${task.id}`)
    case 'r': {
      const lines = [`${task.id} is given up, and its workspace goes into the trash; undo brings it back.`]
      return asking(state, lines, 'Reject it?', { do: 'reject', task }, at)
    }
    case 'y':
    case 'n':
      return task.asks ? { state, deed: { do: 'answer', task } } : noticed(state, `${task.id} asks nothing.`)
    default:
      return { state }
  }
}

function undoes(state: WatchState, at: number): Pressed {
  const done = state.done.at(-1)
  if (!done) return noticed(state, 'Nothing was done here yet. offshoot ops lists what can be undone.')
  const lines = [`The last thing done here: ${done.verb} of ${done.task.id}`]
  return asking(state, lines, 'Undo it?', { do: 'undo', done }, at)
}

/** The state with a question about these lines, which `y` answers with the deed. */
function asking(state: WatchState, lines: readonly string[], words: string, deed: Deed, at: number): Pressed {
  return { state: { ...state, panel: { lines, from: 0, asks: { words, deed, at } } } }
}

function noticed(state: WatchState, line: string): Pressed {
  return { state: { ...state, notice: [line] } }
}

/** The task under the cursor; the first one where there is no cursor. */
export function underCursor({ tasks, cursor }: WatchState): Task | undefined {
  const shown = inOrder(tasks)
  return shown.find((task) => keyOf(task) === cursor) ?? shown[0]
}

function moved(state: WatchState, task: Task, by: number): WatchState {
  const shown = inOrder(state.tasks)
  const to = shown[clamped(shown.indexOf(task) + by, shown.length)] ?? task
  return { ...state, cursor: keyOf(to) }
}

function clamped(at: number, length: number): number {
  return Math.max(0, Math.min(at, length - 1))
}

/** The state with the tasks of now. The cursor stays on its task; where that is gone, on the one in its place. */
export function withTasks(state: WatchState, tasks: readonly Task[]): WatchState {
  const place = inOrder(state.tasks).findIndex((task) => keyOf(task) === state.cursor)
  const shown = inOrder(tasks)
  const isThere = shown.some((task) => keyOf(task) === state.cursor)
  const next = shown[clamped(place, shown.length)]
  return { ...state, tasks, cursor: isThere ? state.cursor : next && keyOf(next) }
}

const help: readonly string[] = [
  'up, down, j, k   move; page up, page down, home and end move further',
  'enter, d         show the changes of the task in your pager',
  'a                accept: shows what would land, and asks',
  'r                reject: asks; the work goes into the trash',
  'y, n             answer the question of the agent: shows all of it first',
  't                attach: follow the run, or open Claude Code in the workspace',
  's                stop the run: asks; its work is kept',
  'o                open the workspace in your editor',
  'u                undo the last thing that you did here: asks',
  'q, Ctrl-C        leave; runs go on',
]
