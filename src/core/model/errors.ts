import type { Conflict } from './tree.ts'

/** What a failure means for the caller; the kind alone decides the exit code. */
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
  readonly kind: ErrorKind
  readonly title: string
  /** What to do when the place that throws knows nothing better. */
  readonly hint: string
}

/** Every failure the outside can see. Codes are never renamed or reused. */
export const errorTable = {
  WT_001: { kind: 'refused', title: 'path exists', hint: 'Choose another path, or move what is there away.' },
  WT_002: { kind: 'refused', title: 'branch in use', hint: 'Choose another branch with --branch NAME.' },
  WT_003: {
    kind: 'refused',
    title: 'limit reached',
    hint: 'Clean up (offshoot prune --dry-run tells what would go), or raise limits.perRepo.',
  },
  WT_004: { kind: 'refused', title: 'uncommitted changes', hint: 'Commit them, or repeat with --force.' },
  WT_005: { kind: 'missing', title: 'not found', hint: 'offshoot list --all shows what there is.' },
  WT_006: {
    kind: 'usage',
    title: 'path outside the base',
    hint: 'Use a plain name: letters, digits, ".", "_", "-".',
  },
  WT_007: { kind: 'missing', title: 'no such task', hint: 'offshoot list shows the open tasks.' },
  WT_008: { kind: 'failed', title: 'clean-up failed', hint: 'Run offshoot doctor to see what is left.' },
  WT_009: {
    kind: 'environment',
    title: 'not a git repository',
    hint: 'Go to a repository, or name one with -C DIR.',
  },
  WT_010: {
    kind: 'missing',
    title: 'base does not exist',
    hint: 'git branch --all and git tag show what --from can name.',
  },
  WT_011: {
    kind: 'conflict',
    title: 'conflict',
    hint: 'Nothing was written. Solve the conflicts, then repeat.',
  },
  WT_012: { kind: 'refused', title: 'locked by another process', hint: 'Wait for it to end, then repeat.' },
  WT_013: { kind: 'refused', title: 'task id taken', hint: 'Choose another id.' },
  WT_014: {
    kind: 'environment',
    title: 'disk full',
    hint: 'Free some space, then repeat; nothing was lost.',
  },
  WT_015: { kind: 'environment', title: 'git too old or broken', hint: 'Install git 2.38 or newer.' },
  WT_016: {
    kind: 'usage',
    title: 'bad settings',
    hint: 'offshoot config --show-origin tells where each value comes from.',
  },
  WT_017: { kind: 'refused', title: 'policy refused', hint: 'See the policy with offshoot config.' },
  WT_018: { kind: 'failed', title: 'agent failed', hint: 'offshoot show tells the reason.' },
  WT_019: { kind: 'usage', title: 'wrong usage', hint: 'offshoot --help shows how.' },
  WT_020: {
    kind: 'failed',
    title: 'failed',
    hint: 'Repeat with --verbose, and offshoot doctor, to see more.',
  },
  WT_021: { kind: 'cancelled', title: 'cancelled', hint: 'Nothing partial was left.' },
  WT_022: {
    kind: 'environment',
    title: 'state folder not usable',
    hint: 'Make it writable. For the state folder, OFFSHOOT_HOME names another one.',
  },
  WT_023: {
    kind: 'failed',
    title: 'steps not found',
    hint: 'offshoot doctor tells what is wrong, offshoot repair mends it.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  readonly hint?: string | undefined
  readonly path?: string | undefined
  readonly data?: Record<string, unknown> | undefined
  readonly cause?: unknown
}

/** The one thing that is thrown: code, message, hint, and the path or data it is about. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly hint: string
  readonly path: string | undefined
  readonly data: Record<string, unknown> | undefined

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.code = code
    this.hint = detail.hint ?? errorTable[code].hint
    this.path = detail.path
    this.data = detail.data
  }

  get kind(): ErrorKind {
    return errorTable[this.code].kind
  }

  get exitCode(): number {
    return exitCodes[this.kind]
  }

  /** The shape that every door answers with. */
  toJSON(): {
    code: ErrorCode
    message: string
    hint: string
    path?: string
    data?: Record<string, unknown>
  } {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      ...(this.path === undefined ? {} : { path: this.path }),
      ...(this.data === undefined ? {} : { data: this.data }),
    }
  }
}

const systemCodes: Record<string, ErrorCode> = {
  ENOSPC: 'WT_014',
  EDQUOT: 'WT_014',
  EROFS: 'WT_022',
  EACCES: 'WT_022',
  EPERM: 'WT_022',
  ABORT_ERR: 'WT_021',
}

/** Whatever was thrown, as the one error type; the original stays reachable as its cause. */
export function appError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { code, path } = error as NodeJS.ErrnoException
  if (error.name === 'AbortError') return new AppError('WT_021', 'Cancelled.', { cause: error })
  return new AppError(systemCodes[code ?? ''] ?? 'WT_020', error.message, { cause: error, path })
}

/** The hint says the way out of it, which depends on the verb. */
export function conflictError(conflicts: readonly Conflict[], hint?: string): AppError {
  const named = conflicts.slice(0, 5).map(({ path: file, kind }) => `${file} (${kind})`)
  const more = conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''
  return new AppError('WT_011', `Conflict in ${named.join(', ')}${more}. Nothing was written.`, {
    hint,
    data: { conflicts },
  })
}
