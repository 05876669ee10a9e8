/** Follows what the agents at work say and do, by their transcripts, in whichever process each run is (docs/adr/0064-one-cursor-a-client.md). */
import path from 'node:path'
import { transcriptsFolder } from '../model/layout.ts'
import { runsOf } from '../model/task.ts'
import { type KeptEvent, parseEvents } from '../model/transcript.ts'
import type { Ports } from '../ports/index.ts'
import type { Feed } from '../tasks/follow.ts'

/** What one run has said and done since the last time. */
interface RunOutput {
  readonly uid: string
  readonly task: string
  readonly repo: string
  readonly run: string
  /** The bytes of its transcript that the events are in. A gap shows between one `to` and the next `from`. */
  readonly from: number
  readonly to: number
  readonly events: readonly KeptEvent[]
}

export interface OutputFeed {
  /** Calls `take` at most twenty times a second for each run. Transcripts are read only while somebody listens. */
  listen(take: (output: RunOutput) => void): () => void
}

const lookMs = 50
/** So much of a transcript is read at a time. A line is shorter, unless something is wrong with it. */
const partBytes = 512 * 1024

interface OpenRun extends Pick<RunOutput, 'uid' | 'task' | 'repo' | 'run'> {
  readonly file: string
  /** Undefined: from the present end on. */
  at: number | undefined
  hasEnded?: true
}

type Needs = Pick<Ports, 'store' | 'repos' | 'files' | 'home'>

export function openOutput(ports: Needs, feed: Feed): OutputFeed {
  const listeners = new Set<(output: RunOutput) => void>()
  let stop = () => {}
  return {
    listen(take) {
      listeners.add(take)
      if (listeners.size === 1) {
        stop = followRuns(ports, feed, (output) => {
          for (const listener of listeners) listener(output)
        })
      }
      return () => {
        listeners.delete(take)
        if (listeners.size === 0) stop()
      }
    },
  }
}

/** Looks for runs that begin and end by the log, and for their output by their files, until it is told to stop. */
function followRuns(ports: Needs, feed: Feed, tell: (output: RunOutput) => void): () => void {
  const runs = new Map<string, OpenRun>()
  let cursor: number | undefined
  let hasGrown = true
  let isOver = false
  const leave = feed.listen((end) => {
    hasGrown = true
    // The records were rebuilt.
    if (end && end.seq < (cursor ?? 0)) cursor = undefined
  })

  async function add(about: Omit<OpenRun, 'file'>): Promise<void> {
    const repo = await ports.repos.findById(about.repo)
    if (!repo || runs.has(about.run)) return
    runs.set(about.run, {
      ...about,
      file: path.join(transcriptsFolder(ports.home, repo.name, about), `${about.run}.jsonl`),
    })
  }

  async function begin(): Promise<number> {
    const { seq } = await feed.readEnd()
    for (const task of await ports.store.readPendingTasks())
      for (const { run } of runsOf(task))
        await add({ uid: task.uid, task: task.id, repo: task.repo, run, at: undefined })
    return seq
  }

  async function lookAtLog(): Promise<void> {
    hasGrown = false
    for (;;) {
      cursor ??= await begin()
      const { events, seq } = await feed.readAfter(cursor)
      for (const { stored, task, repo } of events) {
        const { uid, event } = stored
        if (event.type === 'run.begun') await add({ uid, task, repo, run: event.run, at: 0 })
        const ended = event.type === 'run.ended' ? runs.get(event.run) : undefined
        if (ended) ended.hasEnded = true
      }
      if (seq === cursor) return
      cursor = seq
    }
  }

  async function lookAtFile(open: OpenRun): Promise<void> {
    // Before the file: whoever ends a run has written all of its transcript.
    if (open.hasEnded) runs.delete(open.run)
    const { file, at, uid, task, repo, run } = open
    const part = await ports.files.readPart(file, at ?? 0, at === undefined ? 0 : partBytes)
    if (!part) return
    const from = at ?? part.size
    const bytes = Buffer.from(part.bytes)
    const lines = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
    // A part without the end of a line is no transcript of ours: passed over, as it can never be read.
    const to = from + (bytes.length === partBytes && lines.length === 0 ? bytes.length : lines.length)
    open.at = to
    const events = parseEvents(lines.toString('utf8'))
    if (events.length > 0) tell({ uid, task, repo, run, from, to, events })
  }

  async function look(): Promise<void> {
    if (hasGrown) await lookAtLog()
    for (const run of runs.values()) if (!isOver) await lookAtFile(run)
  }

  // What cannot be read now is tried again: output is a help, and the log tells what happened.
  const next = () =>
    void look()
      .catch(() => {})
      .then(() => {
        if (!isOver) timer = setTimeout(next, lookMs)
      })
  let timer = setTimeout(next, 0)
  return () => {
    isOver = true
    leave()
    clearTimeout(timer)
  }
}
