import { spawn } from 'node:child_process'
import { AppError } from '../core/errors.ts'
import type { Commands } from '../core/ports.ts'

export interface CommandsOptions {
  readonly env: NodeJS.ProcessEnv
  readonly recordChild: (pid: number) => () => void
}

/** How long a command may take to leave by itself when it is asked to. */
const graceMs = 2_000

/** Any command, as the leader of its own process group, so that it ends together with what it started. */
export function commands({ env, recordChild }: CommandsOptions): Commands {
  return {
    run: (call, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted()
        const [program = '', ...args] = call.argv
        const piped = call.onOutput !== undefined
        const child = spawn(program, args, {
          cwd: call.cwd,
          env: { ...env, ...call.env },
          detached: true,
          stdio: ['inherit', piped ? 'pipe' : 'inherit', piped ? 'pipe' : 'inherit'],
        })
        const forget = child.pid === undefined ? () => {} : recordChild(child.pid)
        for (const stream of ['stdout', 'stderr'] as const) {
          child[stream]?.setEncoding('utf8').on('data', (text: string) => call.onOutput?.(stream, text))
        }
        let last: NodeJS.Timeout | undefined
        const cancel = () => {
          endGroup(child.pid, 'SIGTERM')
          last = setTimeout(() => endGroup(child.pid, 'SIGKILL'), graceMs)
        }
        signal?.addEventListener('abort', cancel, { once: true })
        const finish = () => {
          clearTimeout(last)
          signal?.removeEventListener('abort', cancel)
          // Whatever it left running in its group ends with it.
          endGroup(child.pid, 'SIGKILL')
          forget()
        }
        child.on('error', (error: NodeJS.ErrnoException) => {
          finish()
          const missing = error.code === 'ENOENT'
          const message = missing ? `There is no command ${program}.` : `${program}: ${error.message}`
          reject(new AppError(missing ? 'WT_005' : 'WT_020', message, { cause: error }))
        })
        child.on('exit', (code, killedBy) => {
          finish()
          if (signal?.aborted) return reject(new AppError('WT_021', 'Cancelled.', { cause: signal.reason }))
          resolve(code ?? 128 + (signalNumbers[killedBy ?? ''] ?? 0))
        })
      }),
  }
}

const signalNumbers: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
}

function endGroup(pid: number | undefined, how: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, how)
  } catch {
    // Nobody is left in it.
  }
}
