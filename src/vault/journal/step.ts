/** The message of a step: its subject and trailers. */
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'

/** The fields of a step that the commit object itself does not hold. */
interface StepMessage extends Omit<Step, 'commit' | 'tree' | 'skipped'> {
  readonly skipped?: Step['skipped'] | undefined
  /** Step 0 carries the task's record, so that lost records can be rebuilt. */
  readonly task?: Task | undefined
}

/** `AI Tool: {tool} - {summary}`, then a trailer with all other fields. */
export function stepMessage(note: StepMessage): string {
  const { tool, summary, ...rest } = note
  const lines = [stepSubject(note), '', `Offshoot-Step: ${note.n}`, `Offshoot-Tool: ${oneLine(tool)}`]
  if (note.run !== undefined) lines.push(`Offshoot-Run: ${oneLine(note.run)}`)
  if (note.call !== undefined) lines.push(`Offshoot-Call: ${oneLine(note.call)}`)
  lines.push(`Offshoot-Note: ${JSON.stringify({ ...rest, tool, summary })}`)
  return `${lines.join('\n')}\n`
}

/** The first line of every commit of a step, in the vault and in the user's repository. */
export function stepSubject({ tool, summary }: Pick<Step, 'tool' | 'summary'>): string {
  const words = oneLine(summary)
  const short = Array.from(words).slice(0, 200).join('')
  return words === '' ? `AI Tool: ${oneLine(tool)}` : `AI Tool: ${oneLine(tool)} - ${short}`
}

/** Git refuses some control characters in a commit, and a terminal obeys others. */
function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed()
}

/** Parses the message that `stepMessage` wrote; undefined for a commit that is not a step. */
export function parseStep(message: string): StepMessage | undefined {
  const start = 'Offshoot-Note: '
  const line = message.split('\n').find((candidate) => candidate.startsWith(start))
  return line === undefined ? undefined : (JSON.parse(line.slice(start.length)) as StepMessage)
}
