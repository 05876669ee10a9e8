/** A run as a person sees it while it goes on: what the agent says, what it does, and each step. */
import type { Emit } from '../api/views.ts'
import { ask } from './ask.ts'
import type { Context } from './command.ts'
import { printable, progressText, shortList } from './output.ts'

export interface RunView {
  readonly emit: Emit
  close(): void
}

type Told = Parameters<Emit>[0]

export function personal(context: Context): RunView {
  const { paint, tell } = context
  const line = status(context)
  const say = (words: string) => {
    line.clear()
    tell(words)
  }
  let steps = 0
  const emit: Emit = (told) => {
    switch (told.event) {
      case 'queued':
        return say(`Waiting: ${String(told.limit)} runs are at work in this repository.`)
      case 'progress':
        return line.show(progressText(told))
      case 'started':
        return say(`${String(told.agent)} is at work on ${(told.task as { id: string }).id}`)
      case 'message':
        return say(printable(String(told.text).trim()))
      case 'output':
        return say(printable(String(told.text).trimEnd()))
      case 'tool.started':
        return line.show(`${words(told)} · ${steps} steps`)
      case 'tool.ended':
        return say(paint('dim', `  ${told.ok === true ? '' : 'failed: '}${words(told)}`))
      case 'decided':
        if (told.allow !== true)
          say(paint('red', `  denied: ${words(told)} (${printable(String(told.reason))})`))
        return
      case 'checkpoint': {
        const { n, files } = told.checkpoint as { n: number; files: { path: string }[] }
        steps++
        return say(
          `  ${paint('yellow', `step ${n}`)} ${printable(shortList(files.map((file) => file.path)))}`,
        )
      }
      case 'asked':
        line.clear()
        return question(context, told)
      default:
        return
    }
  }
  return { emit, close: line.clear }
}

const words = ({ tool, summary }: Told) =>
  printable(`${String(tool)} ${String(summary)}`.trim().split('\n')[0] ?? '')

/** One line at the bottom that tells what goes on now, where there is a terminal. */
function status({ values }: Context) {
  const shown = process.stderr.isTTY && values.quiet !== true
  return {
    show: (text: string) => {
      const room = (process.stderr.columns ?? 80) - 1
      if (shown) process.stderr.write(`\r\u001B[K${text.slice(0, room)}`)
    },
    clear: () => void (shown && process.stderr.write('\r\u001B[K')),
  }
}

/** Only somebody at a terminal can answer; without an answer it is a no. */
async function question({ signal, paint }: Context, told: Told): Promise<string | undefined> {
  const why = printable(String(told.reason))
  const said = await ask(
    `${paint('bold', words(told))}\n  ${why}. Allow it? [y]es, [a]lways for this task, [N]o: `,
    signal,
  )
  if (said === undefined) return undefined
  return said.startsWith('y') ? 'once' : said.startsWith('a') ? 'always' : 'deny'
}
