/** The only file that starts git. */
import { createReadStream, existsSync } from 'node:fs'
import { AppError } from '../core/model/errors.ts'
import { type ChildProcessWithoutNullStreams, endGroup, startGroup } from '../process/spawn.ts'
import { type GitScope, gitEnvironment } from './environment.ts'
import { limiter } from '../core/base/concurrency.ts'

interface GitCall extends GitScope {
  readonly args: readonly string[]
  readonly cwd: string
  readonly stdin?: string | Uint8Array
  /** A file to read from instead. */
  readonly stdinFile?: string
  /** Exit codes that are an answer, not a failure. */
  readonly expect?: readonly number[]
  /** Takes stdout as it comes; the answer's `stdout` then stays empty. */
  readonly onStdout?: (chunk: Buffer) => void
  readonly onStderr?: (chunk: Buffer) => void
  readonly signal?: AbortSignal | undefined
}

interface GitAnswer {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** A git process that stays, to be asked again and again. */
export interface OpenPipe {
  write(text: string): void
  onData(listener: (chunk: Buffer) => void): void
  /** Called once, however it ends. */
  onEnd(listener: (error: Error) => void): void
  /** While idle it does not keep our process from ending; it ends with us. */
  idle(yes: boolean): void
  close(): void
}

export type GitPipe = (call: GitScope & Pick<GitCall, 'args' | 'cwd'>) => OpenPipe

export type GitExec = (call: GitCall) => Promise<GitAnswer>

export interface ExecOptions {
  readonly env: NodeJS.ProcessEnv
  /**
   * Notes a child while it runs, so that recovery can end it should we die first; of one that changes refs also the git
   * folder, as it may leave locks there.
   */
  readonly recordChild: (pid: number, changing?: string) => () => void
  /** How many git processes may run at once. */
  readonly atOnce?: number
}

const stderrKept = 16 * 1024

/** Spawns git with a clean environment, in its own process group; cancelling ends the whole group. */
export function gitExec(options: ExecOptions): GitExec {
  const slot = limiter(options.atOnce ?? 8)
  return (call) => slot(() => run(call, options), call.signal)
}

/** Not on record: such a git only reads, and ends by itself with its input, also when we are killed. */
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
        // Where it could not be started, this comes first.
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
    }
  }
}

/**
 * These commands start writing at once, so they wait at a gate until the child is recorded. Other writers read their
 * orders from stdin, which we send only after recording. Readers need no gate.
 */
const selfWilled = new Set(['read-tree', 'sparse-checkout', 'update-index'])

/** The git folder that these hold locks in. */
function changing({ args, gitDir }: GitScope & Pick<GitCall, 'args'>): string | undefined {
  return ['update-ref', 'symbolic-ref'].includes(args[0] ?? '') ? gitDir : undefined
}

function launch(call: GitScope & Pick<GitCall, 'args' | 'cwd'>, { env, recordChild }: ExecOptions) {
  const { child, forget } = startGroup({
    program: 'git',
    args: call.args,
    cwd: call.cwd,
    env: gitEnvironment(env, call),
    stdio: ['pipe', 'pipe', 'pipe'],
    isGated: selfWilled.has(call.args[0] ?? ''),
    record: (pid) => recordChild(pid, changing(call)),
  })
  return { child: child as ChildProcessWithoutNullStreams, forget }
}

function run(call: GitCall, options: ExecOptions): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const { child, forget } = launch(call, options)
    const out: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', call.onStdout ?? ((chunk: Buffer) => out.push(chunk)))
    child.stderr.on('data', (chunk: Buffer) => {
      call.onStderr?.(chunk)
      stderr = (stderr + chunk.toString()).slice(-stderrKept)
    })
    // git may end before it has read everything: its exit code tells why, not our EPIPE.
    child.stdin.on('error', () => {})
    if (call.stdinFile === undefined) child.stdin.end(call.stdin)
    else createReadStream(call.stdinFile).on('error', reject).pipe(child.stdin)

    // So that git takes its lock files away with it.
    const cancel = () => endGroup(child.pid, 'SIGTERM')
    call.signal?.addEventListener('abort', cancel, { once: true })
    const finish = () => {
      call.signal?.removeEventListener('abort', cancel)
      forget()
    }
    child.on('error', (error) => {
      finish()
      reject(spawnError(error, call))
    })
    child.on('close', (code, killedBy) => {
      finish()
      if (call.signal?.aborted)
        return reject(new AppError('cancelled', 'Cancelled.', { cause: call.signal.reason }))
      const answer = { code: code ?? -1, stdout: Buffer.concat(out), stderr }
      if (code !== null && (code === 0 || call.expect?.includes(code))) return resolve(answer)
      reject(gitError(call, code ?? killedBy, stderr))
    })
  })
}

function spawnError(error: NodeJS.ErrnoException, call: Pick<GitCall, 'args' | 'cwd'>): AppError {
  // The system says the same of a program that is not there and of a folder to start it in.
  if (error.code === 'ENOENT' && !existsSync(call.cwd))
    return new AppError('notFound', `The folder ${call.cwd} is gone.`, { path: call.cwd, cause: error })
  if (error.code === 'ENOENT' && error.path === 'git') {
    return notInstalled(error)
  }
  return new AppError('failed', `git ${call.args[0]} could not be started: ${error.message}`, {
    cause: error,
  })
}

function notInstalled(cause?: Error): AppError {
  return new AppError('gitUnusable', 'git is not installed, or not on PATH.', { cause })
}

function gitError(call: GitCall, how: number | string | null, stderr: string): AppError {
  const said = stderr.trim()
  if (how === 127 && /exec: git: /.test(said)) return notInstalled()
  // Of a file that it checks out git does not say why; that there is no room is by far the most likely.
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
  // How far it was stands on a line that it goes back to the beginning of.
  const lines = text.split(/[\r\n]+/)
  return lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
}
