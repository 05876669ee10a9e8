/** The log file of a detached run: the lines that `run --json` prints, one object each. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export type LogLine = Readonly<Record<string, unknown>>

/** The name includes a hash of the workspace, since tasks of two repositories may have the same id. */
export function runLog(home: string, task: { readonly id: string; readonly path: string }): string {
  const place = createHash('sha256').update(task.path).digest('hex').slice(0, 8)
  return path.join(home, 'runs', `${task.id}-${place}.log`)
}

/** Every complete line that is JSON; undefined without a file. Other lines are the last words of a crashed process. */
function readLines(file: string): LogLine[] | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
  } catch {
    return undefined
  }
}

/** The number of lines, from which `follow` tells the later ones. */
export function countLines(file: string): number {
  return readLines(file)?.length ?? 0
}

/** The index of the line that begins the last run; undefined when that run has ended. */
export function findOpenRun(file: string): number | undefined {
  const lines = readLines(file) ?? []
  const begin = lines.findLastIndex(({ event }) => event === 'started')
  return begin === -1 || lines.slice(begin).some(isLast) ? undefined : begin
}

const isLast = (line: LogLine) => 'ok' in line && !('event' in line)

const lookMs = 50

/**
 * Hands each line from `from` on to `take`, until `take` returns true or the run's last line comes, and answers that
 * line. Undefined when the process that writes the log is gone.
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
