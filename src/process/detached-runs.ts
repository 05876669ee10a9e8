/** Starts runs in processes of their own, which go on when their terminal is closed, and follows them by their log. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import type { DetachedRuns, LogLine } from '../core/ports/detached-runs.ts'
import { ownCommand } from './own-command.ts'
import { endOfLog, findOpenRun, follow, isLast } from './run-log.ts'
import { startApart } from './spawn.ts'

/** The process of a run watches over its agent as ours would. */
export function detachedRuns(env: NodeJS.ProcessEnv): DetachedRuns {
  return {
    async start({ words, prompt, dir, log, env: more, waits }, signal) {
      mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 })
      const before = endOfLog(log)
      const file = openSync(log, 'a', 0o600)
      const call = {
        program: process.execPath,
        args: [ownCommand(), ...words],
        cwd: dir,
        env: { ...env, ...more },
      }
      const child = startApart(call, [prompt === undefined ? 'ignore' : 'pipe', file, file])
      closeSync(file)
      // It may have ended already, which its log tells.
      child.stdin?.on('error', () => {}).end(prompt)
      await new Promise<void>((resolve, reject) => child.on('spawn', resolve).on('error', reject))
      const isWritten = () => Promise.resolve(child.exitCode === null && child.signalCode === null)
      // The process of an earlier run may still write its last line: only when ours has ended, the last line is ours.
      let last: LogLine | undefined
      const isBegun = (line: LogLine) => {
        if (isLast(line)) last = line
        return line.event === 'started' || (line.event === 'queued' && !waits)
      }
      const first = (await follow(log, before, isBegun, isWritten, signal, () => false)) ?? last
      if (child.pid === undefined || first === undefined)
        throw new AppError('failed', 'The run could not be started.', { hint: `Its output is in ${log}` })
      return { pid: child.pid, first }
    },
    findOpen: findOpenRun,
    follow,
  }
}
