/** Prints a run for a person while it goes on: the agent's messages, its tool calls, and each step. */
import type { Emit } from '../api/views.ts'
import type { Told } from '../protocol/events.ts'
import { canAsk } from './ask.ts'
import type { Context } from './command.ts'
import { counted } from '../core/base/counted.ts'
import { type Paint, printable, printableText, progressText, shortList, visible } from './output.ts'
import { ring } from './notify.ts'
import { type Asked, question } from './question.ts'
import { callText, runStatus } from './run-status.ts'
import { statusLine } from './status-line.ts'

export interface RunView {
  readonly emit: Emit
  /** Keeps the status line away while a question is open, whose prompt it would write over. */
  pause(asked: Promise<unknown>): void
  close(): void
}

export function personal(context: Context): RunView {
  const { paint, tell } = context
  const line = statusLine(context.shell.stderr, context.values.quiet === true)
  const status = runStatus()
  let asking = 0
  const show = () => {
    if (status.hasBegun() && asking === 0) line.show(status.text(), status.end())
  }
  const say = (words: string) => {
    line.clear()
    tell(words)
    show()
  }
  const ticking = setInterval(show, 1000).unref()
  let task = 'TASK'
  const emit: Emit = (event) => {
    status.take(event)
    ring(event)
    if (event.event === 'started') task = event.task.id
    if (event.event === 'progress') return line.show(progressText(event))
    if (event.event === 'asked') {
      line.clear()
      asking += canAsk() ? 1 : 0
      return question(context, event)?.finally(() => asking--)
    }
    const words = toldText(paint, event, task)
    return words === undefined ? show() : say(words)
  }
  const pause = (asked: Promise<unknown>) => {
    line.clear()
    asking++
    void asked.finally(() => asking--)
  }
  const close = () => {
    clearInterval(ticking)
    line.clear()
  }
  return { emit, pause, close }
}

/** What a person is told of an event; undefined: nothing, or a question. */
export function toldText(paint: Paint, event: Told, task: string): string | undefined {
  switch (event.event) {
    case 'queued':
      return `Waiting: the limit of ${counted(event.limit, 'run')} in this repository is reached.`
    case 'started':
      return `${event.agent} is at work on ${event.task.id}`
    case 'message':
    case 'output':
    case 'tool.ended':
    case 'malformed':
      return eventText(paint, event)
    case 'decided':
      return event.allow ? undefined : eventText(paint, { ...event, event: 'denied' })
    case 'waiting':
      return `${paint('yellow', 'asks:')} ${callText(event)} (${visible(event.reason)}): offshoot answer ${task}`
    case 'heard':
      return event.texts.map((text) => `${paint('bold', 'you:')} ${printableText(text.trim())}`).join('\n')
    case 'checkpoint':
      return eventText(paint, { event: 'step', ...event.checkpoint })
    case 'notified':
      return event.reason === undefined
        ? undefined
        : `${paint('yellow', 'notice:')} no notification by ${event.how}: ${printable(event.reason)}`
    default:
      return undefined
  }
}

type Call = Pick<Asked, 'tool' | 'summary'>

/** An event of a run that a person reads, while it goes on or in its transcript. */
export type Readable =
  | { readonly event: 'message' | 'output'; readonly text: string }
  | ({ readonly event: 'tool.started' } & Call)
  | ({ readonly event: 'tool.ended'; readonly ok: boolean } & Call)
  | ({ readonly event: 'denied'; readonly reason: string } & Call)
  | { readonly event: 'step'; readonly n: number; readonly files: readonly { readonly path: string }[] }
  | { readonly event: 'malformed'; readonly reason: string }

export function eventText(paint: Paint, event: Readable): string {
  switch (event.event) {
    case 'message':
      return printableText(event.text.trim())
    case 'output':
      return printableText(event.text.trimEnd())
    case 'tool.started':
      return paint('dim', `  not ended: ${callText(event)}`)
    case 'tool.ended':
      return paint('dim', `  ${event.ok ? '' : 'failed: '}${callText(event)}`)
    case 'denied':
      return paint('red', `  denied: ${callText(event)} (${visible(event.reason)})`)
    case 'step': {
      const files = shortList(event.files.map((file) => file.path))
      return `  ${paint('yellow', `step ${event.n}`)} ${printable(files)}`
    }
    case 'malformed':
      return paint('dim', `  not understood: ${printable(event.reason)}`)
  }
}
