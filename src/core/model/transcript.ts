/** The transcript of a run: what its agent said and did, as lines of a file (docs/adr/0054-transcripts-beside-the-steps.md). */
import type { Usage } from './usage.ts'

interface KeptCall {
  readonly tool: string
  readonly summary: string
  readonly call?: string | undefined
}

/** Part of a message or of output that the next event of its kind goes on with; of a long text, how many characters are left out. */
interface KeptText {
  readonly text: string
  readonly part?: true | undefined
  readonly cut?: number | undefined
}

/** One event of a run, as the events of `run --json` are called. */
export type KeptEvent = { readonly at: string } & (
  | ({ readonly event: 'message' } & KeptText)
  | ({ readonly event: 'output'; readonly stream: 'stdout' | 'stderr' } & KeptText)
  | ({ readonly event: 'tool.started' } & KeptCall)
  | ({ readonly event: 'tool.ended'; readonly ok: boolean } & KeptCall)
  | ({ readonly event: 'denied'; readonly reason: string } & KeptCall)
  | { readonly event: 'step'; readonly n: number }
  | { readonly event: 'malformed'; readonly reason: string }
  | ({ readonly event: 'usage' } & Usage)
)

/** The first line of a transcript, and its last ones; a run that was killed has no `ended`. */
export type FrameLine = { readonly at: string } & (
  | { readonly event: 'started'; readonly run: string; readonly agent: string; readonly prompt: string }
  | { readonly event: 'cut'; readonly left: number }
  | { readonly event: 'ended'; readonly ok: boolean; readonly reason: string }
)

export interface Transcript {
  readonly run: string
  readonly agent: string
  readonly prompt: string
  readonly startedAt: string
  /** Left out while the run is under way, and when it was killed. */
  readonly endedAt?: string | undefined
  readonly ok?: boolean | undefined
  readonly reason?: string | undefined
  /** How many events were not kept, because the transcript had become too long. */
  readonly left?: number | undefined
  readonly events: readonly KeptEvent[]
}

const known: ReadonlySet<unknown> = new Set<KeptEvent['event']>([
  'message',
  'output',
  'tool.started',
  'tool.ended',
  'denied',
  'step',
  'malformed',
  'usage',
])

/** Undefined when not even the first line can be read. A line that was cut off, or is no event, is passed over. Pure. */
export function parseTranscript(text: string): Transcript | undefined {
  let found: Transcript | undefined
  const events: KeptEvent[] = []
  for (const line of text.split('\n')) {
    const read = parseLine(line)
    if (read?.event === 'started') {
      const { run, agent, prompt, at } = read
      found ??= { run, agent, prompt, startedAt: at, events }
    } else if (found && read?.event === 'ended')
      found = { ...found, endedAt: read.at, ok: read.ok, reason: read.reason }
    else if (found && read?.event === 'cut') found = { ...found, left: read.left }
    else if (read && read.event !== 'ended' && read.event !== 'cut') add(events, read)
  }
  return found && { ...found, events: events.map(withoutPart) }
}

/** The events of some lines from the middle of a transcript, joined where they came in parts. Pure. */
export function parseEvents(text: string): readonly KeptEvent[] {
  const events: KeptEvent[] = []
  for (const line of text.split('\n')) {
    const read = parseLine(line)
    if (read && read.event !== 'started' && read.event !== 'ended' && read.event !== 'cut') add(events, read)
  }
  return events
}

function withoutPart(event: KeptEvent): KeptEvent {
  if (!('part' in event)) return event
  const { part: _, ...whole } = event
  return whole
}

/** Joins what came in parts. */
function add(events: KeptEvent[], next: KeptEvent): void {
  const last = events.at(-1)
  if (last && 'part' in last && 'text' in next && isSameText(last, next)) {
    events[events.length - 1] = { ...next, at: last.at, text: last.text + next.text }
  } else events.push(next)
}

function isSameText(one: KeptEvent, other: KeptEvent): boolean {
  if (one.event === 'output') return other.event === 'output' && one.stream === other.stream
  return one.event === 'message' && other.event === 'message'
}

function parseLine(line: string): KeptEvent | FrameLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const read = JSON.parse(line) as KeptEvent | FrameLine
    const isFrame = ['started', 'cut', 'ended'].includes(read.event)
    return typeof read.at === 'string' && (isFrame || known.has(read.event)) ? read : undefined
  } catch {
    // The process was killed in the middle of this line.
    return undefined
  }
}

/** The last message of the agent. */
export function lastWordsOf(transcripts: readonly Transcript[]): string | undefined {
  const said = transcripts.at(-1)?.events.findLast(({ event }) => event === 'message')
  return said?.event === 'message' ? said.text : undefined
}
