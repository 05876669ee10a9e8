/** The log file of a detached run: the lines that `run --json` prints, one object each. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as pause } from 'node:timers/promises'
import { lines } from '../core/base/lines.ts'
import { runLogFile } from '../core/model/layout.ts'

export type LogLine = Readonly<Record<string, unknown>>

/** The name includes a hash of the workspace, since tasks of two repositories may have the same id. */
export function runLog(home: string, task: { readonly id: string; readonly path: string }): string {
  const place = createHash('sha256').update(task.path).digest('hex').slice(0, 8)
  return runLogFile(home, `${task.id}-${place}`)
}

/** A line that is no JSON is the last words of a process that crashed. */
function parseLine(line: string): LogLine | undefined {
  try {
    return line.startsWith('{') ? (JSON.parse(line) as LogLine) : undefined
  } catch {
    return undefined
  }
}

/** The size in bytes, from which `follow` tells the later lines. */
export function endOfLog(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The place in the file where the last run begins; undefined when that run has ended. */
export function findOpenRun(file: string): number | undefined {
  let open: number | undefined
  let at = 0
  const pass = (length: number) => void (at += length + 1)
  const read = lines((text) => {
    const line = parseLine(text)
    if (line?.event === 'started') open = at
    else if (line && isLast(line)) open = undefined
    pass(text.length)
  }, pass)
  // In this encoding a character is a byte.
  const next = reader(file, 0, 'latin1')
  for (let text = next(); text !== ''; text = next()) read.add(text)
  return open
}

const isLast = (line: LogLine) => 'ok' in line && !('event' in line)

const lookMs = 50

/**
 * Hands each line from the byte `from` on to `take`, until `take` returns true or the run's last line comes, and answers that
 * line. Undefined when the process that writes the log is gone.
 */
export async function follow(
  file: string,
  from: number,
  take: (line: LogLine) => boolean | void,
  isWritten: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<LogLine | undefined> {
  let last: LogLine | undefined
  const read = lines((text) => {
    const line = last ? undefined : parseLine(text)
    if (line && (isLast(line) || take(line) === true)) last = line
  })
  const added = reader(file, from, 'utf8')
  for (let isOver = false; ; isOver = !(await isWritten())) {
    for (let text = added(); text !== '' && !last; text = added()) read.add(text)
    if (last || isOver) return last
    await pause(lookMs, undefined, { signal })
  }
}

const chunkBytes = 1024 * 1024

/** Reads the file on from where the last call stopped, a chunk at a time; empty when there is nothing new. */
function reader(file: string, from: number, encoding: 'latin1' | 'utf8'): () => string {
  const decoder = new StringDecoder(encoding)
  const chunk = Buffer.alloc(chunkBytes)
  let at = from
  return () => {
    if (endOfLog(file) <= at) return ''
    const opened = openSync(file, 'r')
    try {
      const size = readSync(opened, chunk, 0, chunk.length, at)
      at += size
      return decoder.write(chunk.subarray(0, size))
    } finally {
      closeSync(opened)
    }
  }
}
