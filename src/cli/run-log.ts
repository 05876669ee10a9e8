/** What a run that was left to itself has to say, in a file: as with `--json`, one object per line. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { runLogFile } from '../core/model/layout.ts'

export type LogLine = Readonly<Record<string, unknown>>

/** Tasks of two repositories may have the same id. */
export function runLog(home: string, task: { readonly id: string; readonly path: string }): string {
  const place = createHash('sha256').update(task.path).digest('hex').slice(0, 8)
  return runLogFile(home, `${task.id}-${place}`)
}

/** Every whole line; undefined without a file. What is no JSON was said by whoever died. */
function readLines(file: string): LogLine[] | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
  } catch {
    return undefined
  }
}

/** How many lines there are, so that what comes later can be told from it. */
export function countLines(file: string): number {
  return readLines(file)?.length ?? 0
}

/** Where the last run begins, unless it has ended. */
export function findOpenRun(file: string): number | undefined {
  const lines = readLines(file) ?? []
  const begin = lines.findLastIndex(({ event }) => event === 'started')
  return begin === -1 || lines.slice(begin).some(isLast) ? undefined : begin
}

const isLast = (line: LogLine) => 'ok' in line && !('event' in line)

const lookMs = 50

/**
 * Hands out each line from that one on as it comes, until `take` has enough or the last one was taken, which is the
 * answer; undefined when nobody is left who could write it.
 */
export async function follow(
  file: string,
  from: number,
  take: (line: LogLine) => boolean | void,
  isWritten: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<LogLine | undefined> {
  let size = -1
  for (let next = from, isOver = false; ; isOver = !(await isWritten())) {
    const now = statSync(file).size
    const lines = now === size ? [] : (readLines(file) ?? []).slice(next)
    size = now
    for (const line of lines) {
      next++
      if (isLast(line) || take(line) === true) return line
    }
    if (isOver) return undefined
    await pause(lookMs, undefined, { signal })
  }
}
