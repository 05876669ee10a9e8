import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { AppError } from '../core/errors.ts'
import { gated } from '../core/gate.ts'
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
        const own = { ...env, ...call.env }
        if (!canRun(program, call.cwd, own.PATH))
          throw new AppError('WT_005', `There is no command ${program}.`)
        const out = call.onOutput === undefined ? 'inherit' : 'pipe'
        const child = spawn(...gated(program, args), {
          cwd: call.cwd,
          env: own,
          detached: true,
          stdio: [call.stdin === undefined ? 'inherit' : 'pipe', out, out, 'pipe'],
        })
        const gate = child.stdio[3] as Writable
        // It may be gone already: its exit code tells why.
        gate.on('error', () => {})
        let forget = () => {}
        try {
          if (child.pid !== undefined) forget = recordChild(child.pid)
          gate.end('\n')
        } catch (error) {
          endGroup(child.pid, 'SIGKILL')
          throw error
        }
        // Whoever does not want to read it may close it.
        child.stdin?.on('error', () => {}).end(call.stdin)
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
          reject(new AppError('WT_020', `${program}: ${error.message}`, { cause: error }))
        })
        child.on('exit', (code, killedBy) => {
          finish()
          if (signal?.aborted) return reject(new AppError('WT_021', 'Cancelled.', { cause: signal.reason }))
          resolve(code ?? 128 + (signalNumbers[killedBy ?? ''] ?? 0))
        })
      }),
  }
}

/** As the shell finds it: by its path, or in a folder of PATH. */
function canRun(program: string, cwd: string, folders = ''): boolean {
  const places = program.includes('/') ? [cwd] : folders.split(path.delimiter)
  return places.some((folder) => isProgram(path.resolve(cwd, folder, program)))
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
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
