/** The message of a step: its subject and trailers. */
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'

/** The fields of a step that the commit object itself does not hold. */
interface StepMessage extends Omit<Step, 'commit' | 'tree' | 'skipped'> {
  readonly skipped?: Step['skipped'] | undefined
  /** Step 0 carries the task's record, so that lost records can be rebuilt. */
  readonly task?: Task | undefined
}

/** The subject, then trailers: each tool and each call has one, and all fields are in the last. */
export function stepMessage(note: StepMessage): string {
  const { tool, summary, ...rest } = note
  const { run, call, calls = [] } = note
  const lines = [stepSubject(note), '', `Offshoot-Step: ${note.n}`]
  for (const name of new Set([tool, ...calls.map((one) => one.tool)]))
    lines.push(`Offshoot-Tool: ${oneLine(name)}`)
  if (run !== undefined) lines.push(`Offshoot-Run: ${oneLine(run)}`)
  for (const id of new Set([call, ...calls.map((one) => one.id)]))
    if (id !== undefined) lines.push(`Offshoot-Call: ${oneLine(id)}`)
  lines.push(`Offshoot-Note: ${JSON.stringify({ ...rest, tool, summary })}`)
  return `${lines.join('\n')}\n`
}

type Subject = Pick<Step, 'tool' | 'summary' | 'run' | 'call' | 'rewindTo' | 'basis'>

/**
 * The first line of every commit of a step, in the vault and in the user's repository: `AI Tool: {tool} - {summary}` for the
 * work of a tool, `Hand edit - {summary}` for what the user changed, `Rewind to step 2` for a verb of the user's.
 */
export function stepSubject(step: Subject): string {
  const words = oneLine(step.summary)
  const short = Array.from(words).slice(0, 200).join('')
  if (step.rewindTo !== undefined || step.basis !== undefined) return `${verbOf(step)} ${short}`.trimEnd()
  const who = isByHand(step) ? 'Hand edit' : `AI Tool: ${oneLine(step.tool)}`
  return words === '' ? who : `${who} - ${short}`
}

function verbOf({ tool }: Subject): string {
  return tool.charAt(0).toUpperCase() + tool.slice(1)
}

/** A checkpoint outside of a run that no tool asked for. */
function isByHand({ tool, run, call }: Subject): boolean {
  return tool === 'checkpoint' && run === undefined && call === undefined
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
