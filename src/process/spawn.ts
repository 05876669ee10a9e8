/** Starts processes. No other file does (docs/adr/0028-one-cell-one-spawn.md). */
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  execFile,
  execFileSync,
  spawn,
} from 'node:child_process'
import type { Writable } from 'node:stream'
import { absolute, withoutRelative } from './programs.ts'

export type { ChildProcess, ChildProcessWithoutNullStreams }

interface Program {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** 2 is our own stderr. */
type Stream = 'pipe' | 'inherit' | 'ignore' | 2

export interface GroupCall extends Program {
  readonly stdio: readonly [stdin: Stream, stdout: Stream, stderr: Stream]
  /** For programs that write at once: they start only after they are recorded. */
  readonly isGated: boolean
  readonly bounds?: Bounds | undefined
  /** The file of a control group that a gated program enters before it runs. */
  readonly enter?: string | undefined
  /** Records the child before the gate opens; returns the function that deletes the record. */
  readonly record: (pid: number) => () => void
}

/** What the kernel lets a program use. It ends the program even if we are killed first. */
export interface Bounds {
  readonly memoryMegabytes: number
  readonly cpuSeconds: number
}

export interface Group {
  readonly child: ChildProcess
  /** Deletes the record; to be called when the child has ended. */
  readonly forget: () => void
}

/**
 * Starts a program as the leader of its own process group, so that `endGroup` reaches all of its children. It is
 * recorded while it runs: if we are killed, recovery ends it. If it cannot be started, the child emits `error`.
 */
export function startGroup({ args, cwd, stdio, isGated, bounds, enter, record, ...call }: GroupCall): Group {
  const { program, env } = safe(call.program, cwd, call.env)
  const [inside, bounded] = bounds ? withinBounds(program, args, bounds) : [program, args]
  const [command, words] = isGated ? behindGate(inside, bounded, enter) : [inside, bounded]
  const child = spawn(command, words, {
    cwd,
    env: { ...env, [ownerVariable]: String(process.pid) },
    detached: true,
    stdio: isGated ? [...stdio, 'pipe'] : [...stdio],
  })
  const gate = child.stdio[3] as Writable | undefined
  // The child may have ended already: its exit code says why.
  gate?.on('error', () => {})
  try {
    const forget = child.pid === undefined ? () => {} : record(child.pid)
    gate?.end('\n')
    return { child, forget }
  } catch (error) {
    // A gated program has done nothing yet; any other gets the chance to clean up.
    endGroup(child.pid, isGated ? 'SIGKILL' : 'SIGTERM')
    throw error
  }
}

/** Says which process started a group. Whoever writes a record of a child cannot write this into a process of others. */
export const ownerVariable = 'OFFSHOOT_INTERNAL_OWNER'

/** No program is found in a relative folder of PATH, neither by us nor by the child (docs/adr/0031-absolute-programs.md). */
function safe(program: string, cwd: string, env: NodeJS.ProcessEnv = process.env) {
  const clean = withoutRelative(env)
  return { program: absolute(program, cwd, clean), env: clean }
}

/**
 * A program that waits at a gate, file descriptor 3, until it is recorded. If we die before that, the gate closes and
 * the program never runs; recovery would not know of it. `exec` keeps the pid.
 */
function behindGate(
  program: string,
  args: readonly string[],
  enter = '/dev/null',
): [program: string, args: string[]] {
  const script = 'read -r _ <&3 || exit 1; { echo $$ > "$1"; } 2>/dev/null; shift; exec "$@" 3<&-'
  return ['/bin/sh', ['-c', script, 'sh', enter, program, ...args]]
}

function withinBounds(
  program: string,
  args: readonly string[],
  { memoryMegabytes, cpuSeconds }: Bounds,
): [program: string, args: string[]] {
  const limits = `ulimit -v ${memoryMegabytes * 1024} && ulimit -t ${cpuSeconds}`
  return ['/bin/sh', ['-c', `${limits} && exec "$@"`, 'sh', program, ...args]]
}

/**
 * The only way to end a process group. SIGTERM lets git remove its lock files; SIGKILL is for a program that stays. A
 * group that has ended needs nothing. If we may not kill a group, the caller notices that it does not end.
 */
export function endGroup(leader: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  // To kill(2), -1 is every process of the user, and 0 our own group.
  if (leader === undefined || !Number.isSafeInteger(leader) || leader <= 1) return
  try {
    process.kill(-leader, signal)
  } catch (thrown) {
    if (!['ESRCH', 'EPERM'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
  }
}

/** Starts a process that outlives us, in a group of its own: closing the terminal does not end it either. */
export function startApart(
  { args, cwd, ...call }: Omit<Program, 'env'> & Partial<Pick<Program, 'env'>>,
  stdio: readonly ('ignore' | 'pipe' | number)[],
): ChildProcess {
  const { program, env } = safe(call.program, cwd, call.env)
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [...stdio],
  })
  child.on('error', () => {})
  child.unref()
  return child
}

/** Runs a command line in the user's shell. It writes to our terminal; we write its stdin. */
export function startAtTerminal(line: string, env: NodeJS.ProcessEnv): ChildProcess & { stdin: Writable } {
  return spawn(line, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env: withoutRelative(env) })
}

/** Runs a command line in the user's shell, with our terminal to itself. */
export function startInTerminal(line: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(line, { shell: true, cwd, stdio: 'inherit', env: withoutRelative(env) })
}

export interface Ran {
  /** The exit code; undefined when the program could not be started, or a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Short programs print less than a screen, except `ps` on a machine with many processes. */
const maxBuffer = 64 * 1024 * 1024

/** Runs a short program to its end. */
export function run(
  name: string,
  args: readonly string[],
  { cwd = '/', ...place }: Partial<Pick<Program, 'cwd' | 'env'>> = {},
): Promise<Ran> {
  const { program, env } = safe(name, cwd, place.env)
  return new Promise((resolve) => {
    const options = { cwd, env, encoding: 'utf8', maxBuffer } as const
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      resolve({ code: typeof code === 'number' ? code : undefined, stdout, stderr })
    })
  })
}

/** The output of a short program, read synchronously; throws when it fails. */
export function readOutput(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer,
    ...(env && { env }),
  })
}
