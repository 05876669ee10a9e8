/** Prints the runs of siblings for a person while they go on: one status line each at a terminal, prefixed lines elsewhere. */
import type { Emit } from '../api/views.ts'
import type { Told } from '../protocol/events.ts'
import { canAsk } from './ask.ts'
import type { Context } from './command.ts'
import { ring } from './notify.ts'
import { question } from './question.ts'
import { type RunStatus, runStatus } from './run-status.ts'
import { toldText } from './run-view.ts'
import { statusLines } from './status-line.ts'

export interface SiblingsView {
  /** Takes the events of that task. */
  emit(task: string): Emit
  /** The run of that task is over; the words say how. */
  end(task: string, words: string): void
  close(): void
}

/** Told above the status lines. What agents say, and each tool that they use, would be too much of several at once. */
const notable: ReadonlySet<Told['event']> = new Set(['checkpoint', 'decided', 'waiting', 'heard', 'notified'])

export function siblingsView(context: Context, tasks: readonly string[]): SiblingsView {
  const { paint, tell } = context
  const lines = statusLines(context.shell.stderr, context.values.quiet === true)
  const statuses = new Map<string, RunStatus>(tasks.map((task) => [task, runStatus()]))
  const width = Math.max(...tasks.map((task) => task.length))
  const hasLines = process.stderr.isTTY
  // While a question is on the screen, nothing else is written there.
  let asking = 0
  const held: string[] = []
  const show = () => {
    if (asking > 0) return
    const shown = [...statuses].map(([task, status]) => ({
      text: `${task.padEnd(width)}  ${status.text()}`,
      end: status.end(),
    }))
    lines.show(shown)
  }
  const flush = () => {
    if (asking > 0) return
    lines.clear()
    for (const words of held.splice(0)) tell(words)
    show()
  }
  const say = (task: string, words: string) => {
    held.push(...words.split('\n').map((line) => `${paint('bold', `${task.padEnd(width)} |`)} ${line}`))
    flush()
  }
  const ticking = setInterval(show, 1000).unref()
  return {
    emit: (task) => (event) => {
      statuses.get(task)?.take(event)
      ring(event)
      if (event.event === 'asked') {
        if (!canAsk()) return undefined
        lines.clear()
        asking++
        return question(context, event, task)?.finally(() => {
          asking--
          flush()
        })
      }
      const words = hasLines && !notable.has(event.event) ? undefined : toldText(paint, event, task)
      return words === undefined || words === '' ? show() : say(task, words)
    },
    end(task, words) {
      statuses.get(task)?.close(words)
      if (hasLines) show()
      else say(task, words)
    },
    close() {
      clearInterval(ticking)
      lines.clear()
    },
  }
}
