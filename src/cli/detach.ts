import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../core/errors.ts'
import { bin } from './bin.ts'

/**
 * The same command once more, as a process that no terminal ends. It watches over its agent as we would; what it has to
 * say goes into a file. Answers when it has begun.
 */
export async function detach(argv: readonly string[], cwd: string, log: string): Promise<number> {
  mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 })
  const file = openSync(log, 'a', 0o600)
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd,
    detached: true,
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  await new Promise<void>((resolve, reject) => child.on('spawn', resolve).on('error', reject))
  child.unref()
  if (child.pid === undefined) throw new AppError('WT_020', 'The run could not be started.')
  return child.pid
}
