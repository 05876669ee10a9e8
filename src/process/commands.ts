/** Runs a command to its end, together with all processes that it started. */
import type { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../core/model/errors.ts'
import type { CommandCall } from '../core/model/command.ts'
import type { Commands } from '../core/ports/commands.ts'
import { makeControlGroup } from './control-group.ts'
import { endMarked } from './marked.ts'
import { findProgram } from './programs.ts'
import { endGroup, startGroup } from './spawn.ts'
import { watch } from './watch.ts'

export interface CommandsOptions {
  readonly env: NodeJS.ProcessEnv
  readonly recordChild: (pid: number) => () => void
  /** False: a protocol uses our stdin and stdout, so that no program may read or write there. */
  readonly lendsStreams?: boolean | undefined
}

/** The time a command has to end after SIGTERM, and the time its last output has to arrive. */
const graceMs = 2_000

/** Each command leads a process group of its own, so that it ends together with the processes it started. */
export function commands(options: CommandsOptions): Commands {
  const { env } = options
  return {
    findProgram: (program) => findProgram(program, '/', env.PATH),
    async run(call, signal) {
      signal?.throwIfAborted()
      const [program = ''] = call.argv
      const own = { ...env, ...call.env }
      if (findProgram(program, call.cwd, own.PATH) === undefined)
        throw new AppError('programMissing', `There is no command ${program}.`)
      const code = await runGroup(call, own, options, signal)
      if (signal?.aborted) throw new AppError('cancelled', 'Cancelled.', { cause: signal.reason })
      return code
    },
  }
}

async function runGroup(
  call: CommandCall,
  env: NodeJS.ProcessEnv,
  { recordChild, lendsStreams = true }: CommandsOptions,
  signal?: AbortSignal,
): Promise<number> {
  const [program = '', ...args] = call.argv
  const run = call.env.OFFSHOOT_RUN
  const [ownInput, ownOutput] = lendsStreams ? (['inherit', 'inherit'] as const) : (['ignore', 2] as const)
  const out = call.onOutput === undefined ? ownOutput : 'pipe'
  const grouped = run === undefined ? undefined : makeControlGroup(run)
  const { child, forget } = startGroup({
    program,
    args,
    cwd: call.cwd,
    env,
    stdio: [call.onStart === undefined ? ownInput : 'pipe', out, out],
    isGated: true,
    enter: grouped?.enter,
    record: (pid) => callBoth(recordChild(pid), watch(pid, run)),
  })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new AppError('failed', `${program}: ${error.message}`, { cause: error })),
    )
    child.on('exit', (code, killedBy) => resolve(code ?? 128 + (signalNumbers[killedBy ?? ''] ?? 0)))
  })
  ended.catch(() => {})
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => call.onOutput?.(stream, text))
  }
  const { pid } = child
  let last: NodeJS.Timeout | undefined
  const cancel = () => {
    endGroup(pid, 'SIGTERM')
    last = setTimeout(() => endGroup(pid, 'SIGKILL'), graceMs)
  }
  try {
    passStdin(child.stdin, call.onStart)
    signal?.addEventListener('abort', cancel, { once: true })
    return await ended
  } finally {
    clearTimeout(last)
    signal?.removeEventListener('abort', cancel)
    // Ends every process that the command left running: in its group, and those with the mark of the run elsewhere.
    endGroup(pid, 'SIGKILL')
    if (run !== undefined) await endMarked(run)
    // Only a process that has cleared its mark could still hold the output open, so we wait no longer than this.
    await Promise.race([closed, pause(graceMs, undefined, { ref: false })])
    for (const stream of [child.stdout, child.stderr]) (stream as Readable | null)?.destroy()
    grouped?.remove()
    forget()
  }
}

const callBoth = (one: () => void, other: () => void) => () => {
  one()
  other()
}

function passStdin(stdin: Writable | null, onStart: CommandCall['onStart']): void {
  if (!stdin) return
  stdin.on('error', () => {})
  onStart?.({ write: (text) => void stdin.write(text), end: () => void stdin.end() })
}

const signalNumbers: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
}
