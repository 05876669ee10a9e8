/** Runs git. No other file does (docs/adr/0028-one-cell-one-spawn.md). */
import { createReadStream, existsSync } from 'node:fs'
import { AppError } from '../core/model/errors.ts'
import { type Bounds, type ChildProcessWithoutNullStreams, endGroup, startGroup } from '../process/spawn.ts'
import { type GitScope, gitEnvironment } from './environment.ts'
import { limiter } from '../core/base/concurrency.ts'

interface GitCall extends GitScope {
  readonly args: readonly string[]
  readonly cwd: string
  readonly stdin?: string | Uint8Array
  /** A file that git reads as its stdin. */
  readonly stdinFile?: string
  /** Exit codes that are an answer and not a failure. */
  readonly expect?: readonly number[]
  /** Receives stdout in chunks; the answer's `stdout` is then empty. */
  readonly onStdout?: (chunk: Buffer) => void
  readonly onStderr?: (chunk: Buffer) => void
  readonly signal?: AbortSignal | undefined
  /** How long the call may take; 30 minutes unless it says otherwise. */
  readonly deadlineMs?: number
  /** For questions that an agent's commits can make arbitrarily hard (docs/adr/0041-limits-and-deadlines.md). */
  readonly bounds?: Bounds
  /** How many bytes git may print; above that the call fails. */
  readonly maxOutput?: number
}

interface GitAnswer {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** A long-lived git process that answers many questions. */
export interface OpenPipe {
  write(text: string): void
  onData(listener: (chunk: Buffer) => void): void
  /** Called once, however the process ends. */
  onEnd(listener: (error: Error) => void): void
  /** An idle process does not keep ours alive; it ends together with ours. */
  idle(yes: boolean): void
  close(): void
  /** Ends the process at once, for one that does not answer. */
  kill(): void
}

export type GitPipe = (call: GitScope & Pick<GitCall, 'args' | 'cwd'>) => OpenPipe

export type GitExec = (call: GitCall) => Promise<GitAnswer>

export interface ExecOptions {
  readonly env: NodeJS.ProcessEnv
  /**
   * Records a running child, so that recovery can end it if we die first. `changing` is the git folder of a child that
   * changes refs, since it may leave locks there.
   */
  readonly recordChild: (pid: number, changing?: string) => () => void
  /** How many git processes may run at once. */
  readonly atOnce?: number
}

const stderrKept = 16 * 1024

/** Far above what honest work takes, so that only a git that waits for ever is ended: for example one that opened a pipe. */
const longestMs = 30 * 60_000

/** How long a git that was told to end may take to remove its lock files. */
const graceMs = 2_000

/** Spawns git with a clean environment, in its own process group; cancelling ends the whole group. */
export function gitExec(options: ExecOptions): GitExec {
  const slot = limiter(options.atOnce ?? 8)
  return (call) => slot(() => run(call, options), call.signal)
}

/**
 * Such a git is not recorded: it only reads, and ends when its stdin closes, even if we are killed. Who asks it keeps the
 * time, since it may wait for ever as well (docs/adr/0041-limits-and-deadlines.md).
 */
export function gitPipe({ env }: Pick<ExecOptions, 'env'>): GitPipe {
  return (call) => {
    const { child } = launch(call, { env, recordChild: () => () => {} })
    child.stderr.resume()
    child.stdin.on('error', () => {})
    return {
      write: (text) => void child.stdin.write(text),
      onData: (listener) => void child.stdout.on('data', listener),
      onEnd(listener) {
        let failure: AppError | undefined
        // If git could not be started, this event comes before `close`.
        child.on('error', (error) => (failure = spawnError(error, call)))
        child.once('close', (code, signal) => {
          const ended = `git ${call.args[0]} ended (${code ?? signal}).`
          listener(failure ?? new AppError('failed', ended, { path: call.cwd }))
        })
      },
      idle(yes) {
        for (const handle of [
          child,
          child.stdin,
          child.stdout,
          child.stderr,
        ] as unknown as NodeJS.Timeout[]) {
          if (yes) handle.unref()
          else handle.ref()
        }
      },
      close: () => void child.stdin.end(),
      // It holds no lock that it would have to remove.
      kill: () => endGroup(child.pid, 'SIGKILL'),
    }
  }
}

/**
 * These commands start writing at once, so they wait at a gate until the child is recorded. Other writers read their
 * orders from stdin, which we send only after recording. Readers need no gate.
 */
const gatedCommands = new Set(['read-tree', 'sparse-checkout', 'update-index'])

/** The git folder in which this call takes locks. */
function lockedFolder({ args, gitDir }: GitScope & Pick<GitCall, 'args'>): string | undefined {
  return ['update-ref', 'symbolic-ref'].includes(args[0] ?? '') ? gitDir : undefined
}

function launch(
  call: GitScope & Pick<GitCall, 'args' | 'cwd' | 'bounds'>,
  { env, recordChild }: ExecOptions,
) {
  const { child, forget } = startGroup({
    program: 'git',
    args: call.args,
    cwd: call.cwd,
    env: gitEnvironment(env, call),
    stdio: ['pipe', 'pipe', 'pipe'],
    isGated: gatedCommands.has(call.args[0] ?? ''),
    bounds: call.bounds,
    record: (pid) => recordChild(pid, lockedFolder(call)),
  })
  return { child: child as ChildProcessWithoutNullStreams, forget }
}

function run(call: GitCall, options: ExecOptions): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const { child, forget } = launch(call, options)
    const out: Buffer[] = []
    let stderr = ''
    let why: string | undefined
    let killing: NodeJS.Timeout | undefined
    let isKilled = false
    const end = (reason?: string) => {
      why ??= reason
      // SIGTERM lets git remove its lock files.
      endGroup(child.pid, 'SIGTERM')
      killing ??= setTimeout(() => {
        isKilled = true
        endGroup(child.pid, 'SIGKILL')
      }, graceMs)
    }
    child.stdout.on('data', call.onStdout ?? keepOutput(out, call.maxOutput, end))
    child.stderr.on('data', (chunk: Buffer) => {
      call.onStderr?.(chunk)
      stderr = (stderr + chunk.toString()).slice(-stderrKept)
    })
    // Git may end before it has read all of stdin: its exit code says why, our EPIPE does not.
    child.stdin.on('error', () => {})
    if (call.stdinFile === undefined) child.stdin.end(call.stdin)
    else createReadStream(call.stdinFile).on('error', reject).pipe(child.stdin)

    const { deadlineMs = longestMs } = call
    const deadline = setTimeout(() => end(`took longer than ${deadlineMs / 1000} s`), deadlineMs)
    const cancel = () => end()
    call.signal?.addEventListener('abort', cancel, { once: true })
    const finish = () => {
      clearTimeout(deadline)
      clearTimeout(killing)
      call.signal?.removeEventListener('abort', cancel)
      forget()
    }
    child.on('error', (error) => {
      finish()
      reject(spawnError(error, call))
    })
    child.on('close', (code, killedBy) => {
      finish()
      if (call.signal?.aborted) return reject(cancelledError(call.signal, isKilled))
      if (why !== undefined) return reject(endedError(call, why))
      const answer = { code: code ?? -1, stdout: Buffer.concat(out), stderr }
      if (code !== null && (code === 0 || call.expect?.includes(code))) return resolve(answer)
      reject(gitError(call, code ?? killedBy, stderr))
    })
  })
}

function keepOutput(out: Buffer[], most = Number.POSITIVE_INFINITY, end: (reason: string) => void) {
  let bytes = 0
  return (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= most) out.push(chunk)
    else end(`printed more than ${most} bytes`)
  }
}

/** A git that was killed may have left locks, whoever wanted it to end. */
function cancelledError({ reason }: AbortSignal, isKilled: boolean): AppError {
  return new AppError('cancelled', 'Cancelled.', {
    cause: reason,
    ...(isKilled && { data: { killed: true } }),
  })
}

/** We ended this git, because it went beyond what the call allows. */
function endedError(call: GitCall, why: string): AppError {
  return new AppError('failed', `git ${call.args[0]} ${why}, and was ended.`, {
    data: { args: call.args, stderr: '', killed: true },
    path: call.workTree ?? call.gitDir ?? call.cwd,
  })
}

function spawnError(error: NodeJS.ErrnoException, call: Pick<GitCall, 'args' | 'cwd'>): AppError {
  // Node reports ENOENT both for a missing program and for a missing cwd.
  if (error.code === 'ENOENT' && !existsSync(call.cwd))
    return new AppError('failed', `The folder ${call.cwd} is gone.`, { path: call.cwd, cause: error })
  if (error.code === 'ENOENT' && error.path === 'git') {
    return notInstalledError(error)
  }
  return new AppError('failed', `git ${call.args[0]} could not be started: ${error.message}`, {
    cause: error,
  })
}

function notInstalledError(cause?: Error): AppError {
  return new AppError('gitUnusable', 'git is not installed, or not on PATH.', { cause })
}

function gitError(call: GitCall, how: number | string | null, stderr: string): AppError {
  const said = stderr.trim()
  if (how === 127 && /exec: git: /.test(said)) return notInstalledError()
  // `unable to write file` comes without a reason; a full disk is by far the most likely one.
  const full = /No space left on device|Disk quota exceeded|unable to write file/.test(said)
  return new AppError(
    full ? 'diskFull' : 'failed',
    `git ${call.args[0]} failed (${how}): ${lastLine(said)}`,
    {
      data: { args: call.args, stderr: said, ...(typeof how === 'string' && { killed: true }) },
      path: call.workTree ?? call.gitDir ?? call.cwd,
    },
  )
}

function lastLine(text: string): string {
  // Git writes its progress on one line and returns to its start with CR.
  const lines = text.split(/[\r\n]+/)
  return lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
}
