/** Prints a run for a person while it goes on: the agent's messages, its tool calls, and each step. */
import type { Emit } from '../api/views.ts'
import type { Context } from './command.ts'
import { counted } from '../core/base/counted.ts'
import { printable, printableText, progressText, shortList, visible } from './output.ts'
import { type Asked, question } from './question.ts'

export interface RunView {
  readonly emit: Emit
  close(): void
}

export function personal(context: Context): RunView {
  const { paint, tell } = context
  const line = status(context)
  const say = (words: string) => {
    line.clear()
    tell(words)
  }
  let steps = 0
  const emit: Emit = (event) => {
    switch (event.event) {
      case 'queued':
        return say(`Waiting: the limit of ${counted(event.limit, 'run')} in this repository is reached.`)
      case 'progress':
        return line.show(progressText(event))
      case 'started':
        return say(`${event.agent} is at work on ${event.task.id}`)
      case 'message':
        return say(printableText(event.text.trim()))
      case 'output':
        return say(printableText(event.text.trimEnd()))
      case 'tool.started':
        return line.show(`${callText(event)} · ${counted(steps, 'step')}`)
      case 'tool.ended':
        return say(paint('dim', `  ${event.ok ? '' : 'failed: '}${callText(event)}`))
      case 'decided':
        if (!event.allow) say(paint('red', `  denied: ${callText(event)} (${visible(event.reason)})`))
        return
      case 'malformed':
        return say(paint('dim', `  not understood: ${printable(event.reason)}`))
      case 'checkpoint': {
        const { n, files } = event.checkpoint
        steps++
        return say(
          `  ${paint('yellow', `step ${n}`)} ${printable(shortList(files.map((file) => file.path)))}`,
        )
      }
      case 'asked':
        line.clear()
        return question(context, event)
      default:
        return
    }
  }
  return { emit, close: line.clear }
}

/** `Bash npm test`, on one line; `…` where there is more. */
function callText({ tool, summary }: Pick<Asked, 'tool' | 'summary'>): string {
  const [line = '', ...more] = `${tool} ${summary}`.trim().split('\n')
  return printable(more.length > 0 ? `${line} …` : line)
}

/** The status line at the bottom of a terminal. */
function status({ values }: Context) {
  const shown = process.stderr.isTTY && values.quiet !== true
  return {
    show: (text: string) => {
      const width = (process.stderr.columns ?? 80) - 1
      if (shown) process.stderr.write(`\r\u001B[K${text.slice(0, width)}`)
    },
    clear: () => void (shown && process.stderr.write('\r\u001B[K')),
  }
}
