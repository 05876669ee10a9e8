/** Does what a key of `watch` asks for, by the commands that a user would type, and answers what the screen shows then. */
import { appError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { accept } from '../commands/accept.ts'
import { askThere } from '../commands/answer.ts'
import { attach } from '../commands/attach.ts'
import { diff } from '../commands/diff.ts'
import { open } from '../commands/open.ts'
import { reject } from '../commands/reject.ts'
import { stop } from '../commands/stop.ts'
import { undo } from '../commands/undo.ts'
import type { Answer, Context, Values } from '../command.ts'
import { painter, printable } from '../output.ts'
import { page } from '../pager.ts'
import { write } from '../stdout.ts'
import type { Task } from './groups.ts'
import { type Doing, type Done, mostNotices, type Panel } from './state.ts'

/** What a deed comes to. */
export interface Outcome {
  readonly notice?: readonly string[] | undefined
  readonly panel?: Panel | undefined
  /** An operation that `u` undoes. */
  readonly done?: Done | undefined
  /** The operation that was undone. */
  readonly undone?: string | undefined
}

/** The screen, as a deed uses it. */
export interface Hands {
  readonly context: Context
  /** A folder of the repository of the task. */
  dirOf(task: Task): string
  /** Leaves the screen for a program that has the terminal to itself. A Ctrl-C then aborts the signal. */
  apart<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Waits for a key before the screen comes back, or for the signal. */
  anyKey(signal: AbortSignal): Promise<void>
}

export function busyWords(deed: Doing): string {
  return deed.do === 'undo' ? `undo of ${deed.done.verb}` : `${deed.do} ${deed.task.id}`
}

export async function perform(deed: Doing, hands: Hands): Promise<Outcome> {
  try {
    return await performed(deed, hands)
  } catch (thrown) {
    const { code, message, hint } = appError(thrown)
    return { notice: [`error ${code}: ${message}`, `  hint: ${hint}`] }
  }
}

function performed(deed: Doing, hands: Hands): Promise<Outcome> {
  switch (deed.do) {
    case 'diff':
      return showDiff(deed.task, hands)
    case 'preview':
      return preview(deed.task, hands)
    case 'accept':
      return acceptAs(deed.task, deed.shown, hands)
    case 'reject':
      return operation('reject', deed.task, () => reject(plain(hands, deed.task)))
    case 'stop':
      return told(stop(plain(hands, deed.task)))
    case 'undo':
      return undoOne(deed.done, hands)
    case 'answer':
      return answer(deed.task, hands)
    case 'attach':
      return attachTo(deed.task, hands)
    case 'open':
      return openIt(deed.task, hands)
  }
}

/** The context of a command about the task, as if it was typed. */
function at({ context, dirOf }: Hands, task: Task, values: Values = {}): Context {
  const { directory } = context.values
  return { ...context, dir: dirOf(task), positionals: [task.id], rest: [], values: { directory, ...values } }
}

/** The same for an answer that the screen shows: it cuts lines, so they have no colours. Nothing is asked by the command itself. */
function plain(hands: Hands, task: Task, values: Values = {}): Context {
  return { ...at(hands, task, { json: true, ...values }), paint: painter(false), colored: false }
}

const linesOf = ({ text }: Answer) => text.split('\n').filter((line) => line !== '')

async function told(answered: Promise<Answer>): Promise<Outcome> {
  return shown(linesOf(await answered))
}

/** A few lines stand above the keys; more of them need the screen. */
function shown(lines: readonly string[]): Outcome {
  return lines.length > mostNotices ? { panel: { lines, from: 0 } } : { notice: lines }
}

/** Notes the operation, so that `u` finds it. */
async function operation(verb: string, task: Task, work: () => Promise<Answer>): Promise<Outcome> {
  const answered = await work()
  const { operation } = answered.json
  const done = typeof operation === 'string' ? { operation, verb, task } : undefined
  return { ...shown(linesOf(answered)), done }
}

async function undoOne({ operation, task }: Done, hands: Hands): Promise<Outcome> {
  const answered = await undo({ ...plain(hands, task), positionals: [operation] })
  return { ...shown(linesOf(answered)), undone: operation }
}

type Preview = NonNullable<Output<'task.accept'>['preview']>

/** What `accept` would land. Only what would land is asked about. */
async function preview(task: Task, hands: Hands): Promise<Outcome> {
  const answered = await accept(plain(hands, task, { 'dry-run': true }))
  const { conflicts, refused } = answered.json.preview as Preview
  const lines = linesOf(answered)
  if (conflicts.length > 0 || refused.length > 0) return { panel: { lines, from: 0 } }
  const deed = { do: 'accept', task, shown: lines } as const
  return { panel: { lines, from: 0, asks: { words: `Accept ${task.id}?`, deed, at: Date.now() } } }
}

/** The agent or the user may have gone on since the preview was shown: what they did is asked about anew. */
async function acceptAs(task: Task, shown: readonly string[], hands: Hands): Promise<Outcome> {
  const again = await preview(task, hands)
  if (again.panel?.lines.join('\n') !== shown.join('\n'))
    return { ...again, notice: ['It has changed since you looked. This is what would land now.'] }
  return operation('accept', task, () => accept(plain(hands, task)))
}

async function showDiff(task: Task, hands: Hands): Promise<Outcome> {
  const { env } = hands.context
  const { text } = await diff(at(hands, task))
  if (text === '') return {}
  await hands.apart(async (signal) => {
    // Without F, which quits where all fits on one screen, and X, which leaves the text behind on the screen.
    const isPaged = await page(text, env.LESS === undefined ? { ...env, LESS: 'R' } : env)
    if (!isPaged) write(`${text}\n`)
    if (!isPaged || env.LESS !== undefined) await hands.anyKey(signal)
  })
  return {}
}

/** Shows the whole question at the terminal, page by page, and sends the answer on for exactly this one. */
async function answer(task: Task, hands: Hands): Promise<Outcome> {
  const context = at(hands, task)
  const open = await context.call('task.answer', { repo: context.dir, task: task.id })
  const answered = await hands.apart((signal) =>
    askThere({ ...context, signal }, open).catch((thrown: unknown) => {
      // Ctrl-C at the question answers nothing.
      if (thrown instanceof Error && thrown.name === 'AbortError') return undefined
      throw thrown
    }),
  )
  return { notice: answered ? linesOf(answered) : [`The question of ${task.id} is not answered.`] }
}

/** Follows the run until it ends, or until Ctrl-C. */
async function attachTo(task: Task, hands: Hands): Promise<Outcome> {
  const context = at(hands, task)
  return hands.apart(async (signal) => {
    const call: Context['call'] = (action, input, emit) => context.call(action, input, emit, signal)
    const { text } = await attach({ ...context, signal, call })
    write(`${text}\n`)
    await hands.anyKey(signal)
    return {}
  })
}

async function openIt(task: Task, hands: Hands): Promise<Outcome> {
  const { json } = await hands.apart(() => open(at(hands, task)))
  return { notice: [printable(`Opened ${String(json.path)} with ${String(json.editor)}`)] }
}
