/** Starts a run in the background, which goes on when its terminal is closed. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import { startApart } from '../process/spawn.ts'
import { bin } from './bin.ts'
import { endOfLog, follow, type LogLine } from './run-log.ts'

export interface Detached {
  readonly pid: number
  /** The first line it wrote: that it has started, that it is queued, or its error. */
  readonly first: LogLine
}

/**
 * Starts the same command again as a process outside of the terminal's session. That process watches over its agent
 * as this one would, and writes its events into `log`. Resolves when the run has begun.
 */
export async function detach(
  argv: readonly string[],
  cwd: string,
  log: string,
  signal?: AbortSignal,
): Promise<Detached> {
  mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 })
  const before = endOfLog(log)
  const file = openSync(log, 'a', 0o600)
  const call = { program: process.execPath, args: [bin, ...argv], cwd }
  const child = startApart(call, ['ignore', file, file])
  closeSync(file)
  await new Promise<void>((resolve, reject) => child.on('spawn', resolve).on('error', reject))
  const isWritten = () => Promise.resolve(child.exitCode === null && child.signalCode === null)
  const isBegun = ({ event }: LogLine) => event === 'started' || event === 'queued'
  const first = await follow(log, before, isBegun, isWritten, signal)
  if (child.pid === undefined || first === undefined)
    throw new AppError('failed', 'The run could not be started.', { hint: `Its output is in ${log}` })
  return { pid: child.pid, first }
}
