/** Every error that offshoot reports: its code, its kind, its exit code and its default hint. */
import type { Conflict } from './tree.ts'

/** The kind of a failure, which alone decides the exit code. */
export type ErrorKind = 'usage' | 'missing' | 'conflict' | 'refused' | 'environment' | 'failed' | 'cancelled'

const exitCodes: Record<ErrorKind, number> = {
  failed: 1,
  usage: 2,
  missing: 3,
  conflict: 4,
  refused: 5,
  environment: 6,
  cancelled: 130,
}

interface ErrorRow {
  readonly code: `WT_${string}`
  readonly kind: ErrorKind
  readonly title: string
  /** Is shown when the place that throws gives no hint of its own. Without it, each place has to give one. */
  readonly hint?: string
}

/** Every failure the outside can see. Codes are never renamed or reused for something else. A hint works wherever the error comes from. */
export const errorTable = {
  pathExists: {
    code: 'WT_001',
    kind: 'refused',
    title: 'path exists',
    hint: 'Move what is there away, then repeat.',
  },
  branchInUse: {
    code: 'WT_002',
    kind: 'refused',
    title: 'branch in use',
  },
  limitReached: {
    code: 'WT_003',
    kind: 'refused',
    title: 'limit reached',
  },
  uncommittedChanges: {
    code: 'WT_004',
    kind: 'refused',
    title: 'uncommitted changes',
  },
  notFound: {
    code: 'WT_005',
    kind: 'missing',
    title: 'not found',
  },
  /** A program that is not installed. */
  programMissing: {
    code: 'WT_005',
    kind: 'missing',
    title: 'not found',
    hint: 'Install it, or put its folder into PATH.',
  },
  outsideBase: {
    code: 'WT_006',
    kind: 'usage',
    title: 'path outside the base',
    hint: 'Use a plain name: letters, digits, ".", "_", "-".',
  },
  noSuchTask: {
    code: 'WT_007',
    kind: 'missing',
    title: 'no such task',
    hint: 'offshoot list shows the open tasks.',
  },
  cleanUpFailed: {
    code: 'WT_008',
    kind: 'failed',
    title: 'clean-up failed',
  },
  notARepository: {
    code: 'WT_009',
    kind: 'environment',
    title: 'not a git repository',
    hint: 'Go to a repository, or name one with -C DIR.',
  },
  baseMissing: {
    code: 'WT_010',
    kind: 'missing',
    title: 'base does not exist',
  },
  conflict: {
    code: 'WT_011',
    kind: 'conflict',
    title: 'conflict',
  },
  locked: {
    code: 'WT_012',
    kind: 'refused',
    title: 'locked by another process',
    hint: 'Repeat the command; if another one is at work, wait for it to end first.',
  },
  taskIdTaken: { code: 'WT_013', kind: 'refused', title: 'task id taken' },
  diskFull: {
    code: 'WT_014',
    kind: 'environment',
    title: 'disk full',
    hint: 'Free some space, then repeat; nothing was lost.',
  },
  gitUnusable: {
    code: 'WT_015',
    kind: 'environment',
    title: 'git too old or broken',
    hint: 'Install git 2.38 or newer.',
  },
  badSettings: {
    code: 'WT_016',
    kind: 'usage',
    title: 'bad settings',
    hint: 'Correct that file, then repeat.',
  },
  policyRefused: {
    code: 'WT_017',
    kind: 'refused',
    title: 'policy refused',
  },
  agentFailed: {
    code: 'WT_018',
    kind: 'failed',
    title: 'agent failed',
  },
  wrongUsage: {
    code: 'WT_019',
    kind: 'usage',
    title: 'wrong usage',
  },
  failed: {
    code: 'WT_020',
    kind: 'failed',
    title: 'failed',
    hint: 'Repeat with --verbose to see more; offshoot doctor checks everything.',
  },
  cancelled: { code: 'WT_021', kind: 'cancelled', title: 'cancelled', hint: 'Nothing partial was left.' },
  stateUnusable: {
    code: 'WT_022',
    kind: 'environment',
    title: 'state folder not usable',
    hint: 'Make it writable. For the state folder, OFFSHOOT_HOME names another one.',
  },
  stepsLost: {
    code: 'WT_023',
    kind: 'failed',
    title: 'steps not found',
  },
} as const satisfies Record<string, ErrorRow>

/** The name of a failure, by which the source knows it; the outside sees its code. */
export type Problem = keyof typeof errorTable

export type ErrorCode = (typeof errorTable)[Problem]['code']

/** A git or another program that failed: its arguments, its output, and whether it was killed. */
interface ProgramFailure {
  readonly args?: readonly string[]
  readonly stdout?: string
  readonly stderr?: string
  readonly killed?: boolean
}

/** The facts that an error carries beside its message; an error that is not listed carries none. */
interface ErrorFacts {
  readonly branchInUse: { readonly branch: string }
  /** How many tasks are open, and how many may be. */
  readonly limitReached: { readonly open: number; readonly limit: number }
  /** Files of a workspace that no commit and no step holds, and the ignored ones beside them. */
  readonly uncommittedChanges: { readonly changed: readonly string[]; readonly ignored: readonly string[] }
  readonly notFound: { readonly hunks: readonly string[] }
  readonly noSuchTask: { readonly uid: string }
  readonly conflict: { readonly conflicts: readonly Conflict[] }
  readonly locked:
    | { readonly lock: string; readonly holder: unknown }
    /** The task, and the agent and the commands that are at work in it. */
    | { readonly task: string; readonly atWork: readonly string[] }
    /** How many events of a task the caller expected, and how many there are. */
    | { readonly expected: number; readonly version: number }
  readonly taskIdTaken: { readonly id: string; readonly existing: string | undefined }
  /** `started` is false: the run failed before its task had been made. */
  readonly diskFull: ProgramFailure & { readonly started?: boolean }
  /** The wrong setting, and its place in the file. */
  readonly badSettings: { readonly key?: string; readonly line?: number; readonly column?: number }
  readonly policyRefused: /** Paths that may not land, each with the reason. */
    | { readonly refused: readonly { readonly path: string; readonly why: string }[] }
    /** What the user was told of before it would land. */
    | { readonly risks: readonly { readonly path: string; readonly why: string }[] }
    | { readonly hook: string }
    /** Settings for agents that the user has not trusted. */
    | { readonly untrusted: readonly string[] }
    /** The commit message that a hook refused, and the output of the hook. */
    | { readonly message: string; readonly said: string }
    /** The address of a remote at the start of the task, and now. */
    | { readonly before: string | undefined; readonly now: string | undefined }
    /** The scope that a token lacks. */
    | { readonly scope: string }
    /** The settings switch offshoot off. */
    | { readonly switchedOff: true }
  /** `killed`: the program did not end when it was asked to. */
  readonly cancelled: ProgramFailure | CancelledRun
  readonly agentFailed: { readonly task: unknown; readonly run: string; readonly reason: string }
  readonly failed: ProgramFailure & { readonly pid?: number }
  /** The records themselves cannot be read. */
  readonly stateUnusable: { readonly damaged: true }
}

/** A run that was cancelled: the first and the last step that hold its work; none when it had changed nothing. */
interface CancelledRun {
  readonly task: string
  readonly steps: readonly [first: number, last: number] | null
}

type ErrorData<P extends Problem = Problem> = P extends keyof ErrorFacts ? ErrorFacts[P] : never

interface ErrorDetail<P extends Problem> {
  readonly hint?: string | undefined
  readonly path?: string | undefined
  readonly data?: ErrorData<P> | undefined
  readonly cause?: unknown
}

/** The problems that have a hint in the table. */
type Hinted = {
  [P in Problem]: (typeof errorTable)[P] extends { readonly hint: string } ? P : never
}[Problem]

type DetailOf<P extends Problem> = [P] extends [Hinted]
  ? [detail?: ErrorDetail<P>]
  : [detail: ErrorDetail<P> & { readonly hint: string }]

class ErrorOf<P extends Problem> extends Error {
  override readonly name = 'AppError'
  readonly problem: P
  readonly hint: string
  readonly path: string | undefined
  readonly data: ErrorData<P> | undefined

  constructor(problem: P, message: string, detail: ErrorDetail<P> = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.problem = problem
    const { hint = '' }: ErrorRow = errorTable[problem]
    this.hint = detail.hint ?? hint
    this.path = detail.path
    this.data = detail.data
  }

  get code(): ErrorCode {
    return errorTable[this.problem].code
  }

  get kind(): ErrorKind {
    return errorTable[this.problem].kind
  }

  get exitCode(): number {
    return exitCodes[this.kind]
  }

  /** The shape that every door answers with. */
  toJSON(): { code: ErrorCode; message: string; hint: string; path?: string; data?: ErrorData<P> } {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      ...(this.path === undefined ? {} : { path: this.path }),
      ...(this.data === undefined ? {} : { data: this.data }),
    }
  }
}

/**
 * The one error type that offshoot throws: a problem, a message, a hint, and the path or data it is about. It is a union, so
 * that `error.problem === 'conflict'` says which data it has.
 */
export type AppError<P extends Problem = Problem> = { [Each in P]: ErrorOf<Each> }[P]

interface AppErrorClass {
  new <P extends Problem>(problem: P, message: string, ...detail: DetailOf<P>): AppError<P>
  [Symbol.hasInstance](value: unknown): value is AppError
}

// TypeScript takes `instanceof` for a guard of the whole union only where the class says so by type.
export const AppError = ErrorOf as unknown as AppErrorClass

/** The program whose failure the error is; undefined for any other error. */
export function programFailure(error: AppError): ProgramFailure | undefined {
  const { problem } = error
  if (problem === 'cancelled')
    return cancelledRun(error) ? undefined : (error.data as ProgramFailure | undefined)
  return problem === 'failed' || problem === 'diskFull' ? error.data : undefined
}

/** The run whose cancelling the error is; undefined for any other error. */
export function cancelledRun(error: AppError): CancelledRun | undefined {
  return error.problem === 'cancelled' && error.data && 'steps' in error.data ? error.data : undefined
}

/** Whether the records themselves cannot be read. */
export function isDamage(error: AppError): boolean {
  return error.problem === 'stateUnusable' && error.data?.damaged === true
}

/** The first problem with that code; an unknown code is `failed`. */
export function problemOf(code: string): Problem {
  const rows = Object.entries(errorTable) as [Problem, ErrorRow][]
  return rows.find(([, row]) => row.code === code)?.[0] ?? 'failed'
}

const systemCodes: Record<string, 'diskFull' | 'stateUnusable' | 'cancelled'> = {
  ENOSPC: 'diskFull',
  EDQUOT: 'diskFull',
  EROFS: 'stateUnusable',
  EACCES: 'stateUnusable',
  EPERM: 'stateUnusable',
  ABORT_ERR: 'cancelled',
}

/** Turns anything that was thrown into an `AppError`; the original stays reachable as its cause. */
export function appError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { code, path } = error as NodeJS.ErrnoException
  if (error.name === 'AbortError') return new AppError('cancelled', 'Cancelled.', { cause: error })
  return new AppError(systemCodes[code ?? ''] ?? 'failed', error.message, { cause: error, path })
}

/**
 * The error for a merge that failed. `hint` says how to solve the conflicts, which depends on the verb; `folder` is where the
 * files are, for verbs that may write elsewhere than the user thinks.
 */
export function conflictError(conflicts: readonly Conflict[], hint: string, folder?: string): AppError {
  const named = conflicts.slice(0, 5).map(({ path: file, kind }) => `${file} (${kind})`)
  const more = conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''
  const where = folder === undefined ? '' : `, below ${folder}`
  return new AppError('conflict', `Conflict in ${named.join(', ')}${more}${where}. Nothing was written.`, {
    hint,
    path: folder,
    data: { conflicts },
  })
}
