/** Keeps what an agent says and does in a run, event by event, and reads it again (docs/adr/0054-transcripts-beside-the-steps.md). */
import path from 'node:path'
import { now } from '../base/time.ts'
import { transcriptsFolder } from '../model/layout.ts'
import { redacted } from '../model/redact.ts'
import { beginOfOpenKey } from '../model/secrets.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import { type FrameLine, type KeptEvent, parseTranscript, type Transcript } from '../model/transcript.ts'
import type { Ports } from '../ports/index.ts'
import type { RunTold } from './attend.ts'
import type { ActiveRun } from './run.ts'

/** In characters: of one text, of a line that has not ended yet, and of all lines of a run. */
const limits = { text: 64 * 1024, held: 64 * 1024, whole: 4 * 1024 * 1024 }

export interface TranscriptWriter {
  tell(event: RunTold): void
  /** Writes the end of the run. An empty reason: all went well. */
  end(reason: string): Promise<void>
}

type Text = Extract<KeptEvent, { event: 'message' | 'output' }>
type Without<T> = T extends unknown ? Omit<T, 'at'> : never

/**
 * Each event is appended at once and not flushed: it survives the death of this process, and only a power cut can take it. A
 * transcript that cannot be written is no reason to stop an agent.
 */
export function keepTranscript(
  { ports, repo, task, id }: ActiveRun,
  about: { readonly agent: string; readonly prompt: string },
): TranscriptWriter {
  const folder = transcriptsFolder(ports.home, repo.name, task)
  const file = path.join(folder, `${id}.jsonl`)
  let writing: Promise<unknown> = ports.files.makeFolder(folder, 0o700).catch(() => {})
  let size = 0
  let left = 0
  let lastWords: Without<KeptEvent> | undefined
  /** The beginning of a line that goes on: a secret is recognised only in a whole one. */
  let held: Without<Text> | undefined

  const append = (line: Without<KeptEvent | FrameLine>) => {
    const text = `${JSON.stringify({ at: now(ports), ...line })}\n`
    size += text.length
    writing = writing
      .then(() => ports.files.append(file, text, 0o600))
      .catch(() => {
        left += 1
        // What follows must not become the end of a line that was cut off.
        return ports.files.append(file, '\n', 0o600).catch(() => {})
      })
  }
  const keep = (event: Without<KeptEvent>) => {
    if (event.event === 'message') lastWords = event
    if (size < limits.whole) return append(event)
    left += 1
  }
  const release = () => {
    if (held) keep(masked(held))
    held = undefined
  }
  const keepText = (event: Without<Text>, goesOn: boolean) => {
    if (held && (held.event !== event.event || !isSameStream(held, event))) release()
    const text = (held?.text ?? '') + event.text
    held = undefined
    const end = goesOn ? endOfWhole(text) : text.length
    const rest = text.slice(end)
    const isHeld = rest !== '' && rest.length < limits.held
    const whole = isHeld ? text.slice(0, end) : text
    if (whole !== '') keep(masked({ ...event, text: whole, ...(goesOn && { part: true as const }) }))
    if (isHeld) held = { ...event, text: rest, part: true }
  }

  append({ event: 'started', run: id, agent: about.agent, prompt: masked({ text: about.prompt }).text })
  return {
    tell(told) {
      if (told.event === 'output') return keepText({ ...told }, true)
      if (told.event === 'message') {
        const { part, ...message } = told
        return keepText(message, part === true)
      }
      const event = keptOf(told)
      if (!event) return
      release()
      keep(event)
    },
    async end(reason) {
      release()
      const [dropped, last] = [left, lastWords]
      if (size >= limits.whole && dropped > 0 && last) append(last)
      await writing
      if (left > 0) append({ event: 'cut', left })
      append({ event: 'ended', ok: reason === '', reason: redacted(reason) })
      await writing
    },
  }
}

/** Where the last line begins that has not ended yet, or a private key that has not: a line of it looks like any other text. */
function endOfWhole(text: string): number {
  return Math.min(text.lastIndexOf('\n') + 1, beginOfOpenKey(text) ?? text.length)
}

function isSameStream(one: Without<Text>, other: Without<Text>): boolean {
  return one.event !== 'output' || other.event !== 'output' || one.stream === other.stream
}

/** Masks before it cuts, since half of a secret would not be recognised; and cuts before, since masking takes its time. */
function masked<T extends { readonly text: string }>(said: T): T & { readonly cut?: number } {
  const text = redacted(said.text.slice(0, 2 * limits.text)).slice(0, limits.text)
  const cut = said.text.length <= limits.text ? 0 : said.text.length - limits.text
  return { ...said, text, ...(cut > 0 && { cut }) }
}

/** The events that a transcript keeps besides texts; summaries of calls are masked already. */
function keptOf(told: RunTold): Without<KeptEvent> | undefined {
  switch (told.event) {
    case 'tool.started':
    case 'tool.ended':
    case 'usage':
      return told
    case 'decided': {
      const { tool, summary, call, reason } = told
      return told.allow ? undefined : { event: 'denied', tool, summary, call, reason: redacted(reason) }
    }
    case 'checkpoint':
      return { event: 'step', n: told.taken.step.n }
    case 'malformed':
      return { event: 'malformed', reason: redacted(told.reason) }
    default:
      return undefined
  }
}

/** The transcripts of a task, oldest first. One that cannot be read is passed over. */
export async function readTranscripts(
  { files, home }: Pick<Ports, 'files' | 'home'>,
  repo: Repo,
  task: Task,
): Promise<Transcript[]> {
  const folder = transcriptsFolder(home, repo.name, task)
  const found: Transcript[] = []
  for (const name of await files.readNames(folder)) {
    const text = await files.readText(path.join(folder, name)).catch(() => undefined)
    const transcript = text === undefined ? undefined : parseTranscript(text)
    if (transcript) found.push(transcript)
  }
  return found.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1))
}
