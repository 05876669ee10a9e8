/** `answer`: answers the question of an agent that nobody was at a terminal for, or shows it. */
import type { Output } from '../../protocol/schemas/index.ts'
import type { Said } from '../../protocol/events.ts'
import { canAsk } from '../ask.ts'
import { type Answer, type Context, text } from '../command.ts'
import { printable, printableLines } from '../output.ts'
import { question, questionLines } from '../question.ts'

/** Without an answer, shows the question; at a terminal it then asks it. */
export async function answer(context: Context): Promise<Answer> {
  const { dir: repo, positionals, values } = context
  const [task] = positionals
  const given = words.find((word) => word === positionals[1])
  const asked = { repo, task, question: text(values, 'question') }
  if (given !== undefined) return told(await context.call('task.answer', { ...asked, answer: given }))
  const open = await context.call('task.answer', asked)
  if (values.json === true) return { json: { ...open }, text: '' }
  if (canAsk()) return (await askThere(context, open)) ?? { json: {}, text: 'It is not answered' }
  return { json: {}, text: printableLines(lines(open)) }
}

const words = ['y', 'n', 'always'] as const

type Open = Output<'task.answer'>

/** Asks the question at this terminal until the signal, and sends the answer on for exactly this question. */
export async function askThere(
  context: Context,
  { task, asked, input }: Open,
  signal = context.signal,
): Promise<Answer | undefined> {
  const { tool, summary, reason } = asked
  const said = await question({ ...context, signal }, { event: 'asked', tool, summary, reason, input })
  if (said === undefined) return undefined
  const given = { repo: context.dir, task: task.id, answer: wordOf[said], question: asked.question }
  return told(await context.call('task.answer', given))
}

const wordOf: Readonly<Record<Said, (typeof words)[number]>> = { once: 'y', always: 'always', deny: 'n' }

function lines({ task: { id }, asked, input }: Open): string[] {
  const { question: name, tool, summary, reason } = asked
  const allow = `offshoot answer ${id} y --question ${name.slice(0, 6)}`
  return [
    ...questionLines({ event: 'asked', tool, summary, reason, input }),
    `It waits until ${asked.until}. ${always}`,
    `  ${allow}    offshoot answer ${id} n`,
  ]
}

const always = '`always` allows this same call for the rest of the task, and no other.'

function told({ task, asked, said }: Open): Answer {
  const call = printable(`${asked.tool} ${asked.summary}`.trim())
  const how =
    said === 'deny' ? 'Denied' : said === 'always' ? 'Allowed for the rest of the task' : 'Allowed once'
  return { json: { task, asked, said }, text: `${how}: ${call}` }
}
