/** Prints a run for a person while it goes on: the agent's messages, its tool calls, and each step. */
import type { Emit } from '../api/views.ts'
import type { Said, Told } from '../protocol/events.ts'
import { ask } from './ask.ts'
import type { Context } from './command.ts'
import { counted } from '../core/base/counted.ts'
import { printable, printableText, progressText, shortList } from './output.ts'

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
        if (!event.allow) say(paint('red', `  denied: ${callText(event)} (${printable(event.reason)})`))
        return
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

type Asked = Extract<Told, { event: 'asked' }>

/** `Bash npm test`, on one line. */
const callText = ({ tool, summary }: Pick<Asked, 'tool' | 'summary'>) =>
  printable(`${tool} ${summary}`.trim().split('\n')[0] ?? '')

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

/** Asks the user about a tool call. Undefined where nobody can answer, which denies it. */
async function question({ signal, paint }: Context, event: Asked): Promise<Said | undefined> {
  const why = printable(event.reason)
  const said = await ask(
    `${paint('bold', callText(event))}\n  ${why}. Allow it? [y]es, [a]lways for this task, [N]o: `,
    signal,
  )
  if (said === undefined) return undefined
  return said.startsWith('y') ? 'once' : said.startsWith('a') ? 'always' : 'deny'
}
