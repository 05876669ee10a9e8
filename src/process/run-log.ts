/** The log file of a detached run: the lines that `run --json` prints, one object each. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as pause } from 'node:timers/promises'
import { lines } from '../core/base/lines.ts'
import type { LogLine } from '../core/ports/detached-runs.ts'

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

/** The answer of the command, which a run prints when it has ended. */
export const isLast = (line: LogLine) => 'ok' in line && !('event' in line)

const lookMs = 50

export async function follow(
  file: string,
  from: number,
  take: (line: LogLine) => boolean | void,
  isWritten: () => Promise<boolean>,
  signal?: AbortSignal,
  isEnd: (line: LogLine) => boolean = isLast,
): Promise<LogLine | undefined> {
  let last: LogLine | undefined
  const read = lines((text) => {
    const line = last ? undefined : parseLine(text)
    if (line && (isEnd(line) || take(line) === true)) last = line
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
